"""What completes by itself: phases of mbarriers, bulk copies, tensor copies."""
