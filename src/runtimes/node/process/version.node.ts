/** The first with everything that the build uses. */
const OLDEST = [22, 13] as const

/** Why this Node cannot run the gateway, if it cannot. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined
  return `The gateway needs Node ${OLDEST.join('.')} or newer; this is ${version}. Install a newer one: https://nodejs.org\n`
}
