/** This package stands for a user's program. */
@NullMarked
package com.example;

import org.jspecify.annotations.NullMarked;
