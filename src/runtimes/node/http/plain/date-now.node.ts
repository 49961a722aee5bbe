let date = ''

/** The date of an answer, which is written once a second. */
export function dateNow(): string {
  if (date !== '') return date
  const now = new Date()
  date = now.toUTCString()
  const forget = () => {
    date = ''
  }
  setTimeout(forget, 1000 - now.getMilliseconds()).unref()
  return date
}
