"""A private copy of the builtins, taken before any program ran.

A function finds its builtins through its globals' ``__builtins__`` at the time it is made, so a
module that begins with ``from _nova_guest.pristine import builtins as __builtins__``
keeps working whatever the program does to the ``builtins`` module.
"""

import builtins as _builtins

builtins = dict(vars(_builtins))
