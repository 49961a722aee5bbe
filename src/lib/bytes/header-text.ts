/** What the name of a header may be, and any other token of HTTP. */
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/

/** What the value of a header may be: one line of Latin-1, without control characters. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
