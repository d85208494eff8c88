"""Pure values in, decision out. Nothing here acts."""

from nova_desktop.policy.guest_env import build_guest_env, is_credential_shaped

__all__ = ["build_guest_env", "is_credential_shaped"]
