const CHECK_MS = 500

/** Calls `act` when the parent process has ended. npm starts a script through a shell and, when it is stopped, ends
 *  only the shell: the gateway would keep running with its port and data folder. */
export function whenOrphaned(act: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    act()
  }, CHECK_MS)
  timer.unref()
}
