/** A circle on the globe a text speaks of. */
export interface NearPlace {
  readonly lat: number
  readonly lon: number
  readonly kilometres: number
}

/** `within 5 km of 59.91, 10.75` (km, m, miles or mi). A place off the globe is none. */
export function nearPlace(text: string): NearPlace | undefined {
  const [, radius, unit = '', latitude, longitude] = WITHIN.exec(text) ?? []
  const [lat, lon] = [Number(latitude), Number(longitude)]
  if (radius === undefined || Math.abs(lat) > 90 || Math.abs(lon) > 180) return undefined
  return { lat, lon, kilometres: Number(radius) * (KILOMETRES[unit.toLowerCase()] ?? 1.609344) }
}

/** Between two places, on a sphere: half a percent off at the most. */
export function kilometresBetween(a: Omit<NearPlace, 'kilometres'>, b: Omit<NearPlace, 'kilometres'>): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const high = Math.sin(radians(b.lat - a.lat) / 2) ** 2
  const wide = Math.sin(radians(b.lon - a.lon) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.sqrt(high + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * wide))
}

/** Mean radius. */
const EARTH_KM = 6_371

const NUMBER = '(-?\\d{1,3}(?:\\.\\d{1,15})?)'
/** The pattern of nearPlace(). */
export const WITHIN = new RegExp(
  `\\bwithin {0,3}(\\d{1,6}(?:\\.\\d{1,6})?) {0,3}(km|kilometres?|kilometers?|metres?|meters?|m|miles?|mi)\\.? {1,3}of {1,3}\\(?${NUMBER} {0,3},? {0,3}${NUMBER}(?![\\d.]*\\d)`,
  'i',
)
const KILOMETRES: Readonly<Record<string, number>> = {
  km: 1,
  kilometre: 1,
  kilometres: 1,
  kilometer: 1,
  kilometers: 1,
  m: 0.001,
  metre: 0.001,
  metres: 0.001,
  meter: 0.001,
  meters: 0.001,
}
