const SEGMENT = /^[A-Za-z0-9._-]{1,200}$/

/** Throws for a key that no adapter may see: it could leave its folder or bucket prefix, or be too long for a file name. */
export function checkKey(key: string): void {
  const fine =
    key.length <= 512 && key.split('/').every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..')
  // Without the key itself: it may be hostile, and this text reaches logs.
  if (!fine) throw new TypeError('not a valid blob key')
}
