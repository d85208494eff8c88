"""How the guests are built: each module is one step, ``build.py`` puts them in order.

``toolchain``   the cross compiler (ziglang) and what it is told
``sources``     tarballs: fetched, verified, unpacked
``native``      the CPython that runs while the guest's is built
``libraries``   zlib, bzip2, xz, SQLite for the guest
``cpython``     CPython for the guest: patched, configured, compiled, linked
``quickjs``     QuickJS for the guest
``profile``     the training run behind the committed profile (only on demand)
``stdlib``      the archive of Python's standard library
``fixed_world`` what a guest sees while it is initialised: files, clock, entropy that never vary
``snapshot``    runs a guest's initialisation and keeps the memory it left
``manifest``    what was built from what; comparing it with what is in ``dist``
"""
