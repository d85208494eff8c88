"""What runs cost here, side by side with other ways to run the same thing, in one go.

``make bench`` or ``python -m bench``. Nothing here is a test: times depend on the machine and
on what else it does, so compare only figures of one table.
"""
