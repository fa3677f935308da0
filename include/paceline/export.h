#pragma once

/// Marks the public surface of libpaceline.so; everything else is hidden.
#define PACELINE_EXPORT __attribute__((visibility("default")))
