/** The first version with every function that the build uses. */
const OLDEST = [22, 13] as const

/** The reason why this version of Node cannot run the gateway; undefined if it can. */
export function unsupportedNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined
  return `The gateway needs Node ${OLDEST.join('.')} or newer; this is ${version}. Install a newer one: https://nodejs.org\n`
}
