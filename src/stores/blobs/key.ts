const SEGMENT = /^[A-Za-z0-9._-]{1,200}$/

/** Throws for an invalid key: it could leave its folder or bucket prefix, or be too long for a file name. */
export function checkKey(key: string): void {
  const fine =
    key.length <= 512 && key.split('/').every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..')
  // The message does not contain the key, which may be hostile, because it is logged.
  if (!fine) throw new TypeError('not a valid blob key')
}
