/** The time of an answer by its `date` header, in Unix seconds; 0 without one. Adapters have no clock. */
export function answeredAt(headers: Readonly<Record<string, string>>): number {
  const time = Date.parse(headers.date ?? '')
  return Number.isNaN(time) ? 0 : Math.floor(time / 1000)
}
