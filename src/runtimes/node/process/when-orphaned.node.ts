const LOOK_MS = 500

/** Acts when the process that started this one has ended. npm starts a script through a shell and, told to stop, ends
 *  only the shell: without this, the gateway would go on with its port and its data folder. */
export function whenOrphaned(act: () => void): void {
  const parent = process.ppid
  const looking = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(looking)
    act()
  }, LOOK_MS)
  looking.unref()
}
