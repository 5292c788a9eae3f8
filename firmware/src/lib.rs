//! Complete FPGA images of Systole's gateware.
