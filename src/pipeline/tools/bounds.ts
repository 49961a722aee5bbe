/** The most turns in which a model may call managed tools. After the last one it is asked once more, for its answer. */
export const MOST_TURNS = 8

/** The most calls of managed tools in one request. */
export const MOST_CALLS = 16
