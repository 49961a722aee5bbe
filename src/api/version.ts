/** The version of this gateway, which package.json has too. */
export const VERSION = '0.1.0'
