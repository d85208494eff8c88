"""The Python side of the guest: what runs before, around and after a program.

In the guest this folder is the package ``_nova_guest``. It is imported once, while the snapshot
is made; a run then only calls three functions from the C embedding (README, "Python guest"):
``begin(request)``, ``failed(exception)`` when the program raised, and ``finish(status)``.

``prepare``   order of the preparation before the snapshot
``warmup``    small programs that fill the interpreter's lazy state
``program``   the request, and ``__main__``
``ending``    exit codes, tracebacks, what CPython does when it exits
``fresh``     what each run must have of its own: entropy, environment, time zone
``absent``    modules that cannot exist here, and how they say so
``archives``  the standard library and the library pack
``standins``  what the standard library needs of some of them in order to be imported
``system``    gaps of ``os`` and ``hashlib``
``loop``      asyncio without sockets, threads and signals
``pristine``  builtins that no program can replace
"""
