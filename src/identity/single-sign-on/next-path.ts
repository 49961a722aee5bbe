const LONGEST = 2048
const HOME = '/console'

/** Where a person goes after the login: a path of this gateway, else the console. Browsers read `//x` and `/\x` as another
 *  host, and drop control characters before they look. */
export function nextPath(given: string | undefined): string {
  if (given === undefined || given.length > LONGEST) return HOME
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (!given.startsWith('/') || given.startsWith('//') || /[\\\u0000-\u001f\u007f-\u009f]/.test(given)) return HOME
  return given.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}
