"""shardax.tools.colab_tpu - a function that notebooks call before they use devices."""


def setup_tpu(tpu_driver_version=None):
    """Nothing: the devices are there already, 8 of them unless configured otherwise.

    Args:
      tpu_driver_version: accepted for compatibility.

    Example:
      >>> import shardax.tools.colab_tpu
      >>> shardax.tools.colab_tpu.setup_tpu()
    """
