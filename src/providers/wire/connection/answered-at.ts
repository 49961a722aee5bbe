/** Unix seconds at which an upstream says that it answered; 0 when it does not say. Adapters have no clock. */
export function answeredAt(headers: Readonly<Record<string, string>>): number {
  const time = Date.parse(headers.date ?? '')
  return Number.isNaN(time) ? 0 : Math.floor(time / 1000)
}
