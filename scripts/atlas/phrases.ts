/** `A`, `A and B`, `A, B and C`. */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** `323,802`. */
export function grouped(number: number): string {
  return number.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

/** `59.91° N, 10.75° E`. */
export function degrees(lat: number, lon: number): string {
  const part = (value: number, plus: string, minus: string) =>
    `${Math.abs(value).toFixed(2)}° ${value < 0 ? minus : plus}`
  return `${part(lat, 'N', 'S')}, ${part(lon, 'E', 'W')}`
}
