import { nearPlace } from './near-place.ts'

/** A box of degrees; `west` may be larger than `east`: then it crosses the 180th meridian. */
export interface GeoBounds {
  readonly north: number
  readonly south: number
  readonly east: number
  readonly west: number
}

/** The box around `within 5 km of 59.91, 10.75` (km, m, miles or mi). A place off the globe is none. */
export function geoBounds(text: string): GeoBounds | undefined {
  const near = nearPlace(text)
  if (near === undefined) return undefined
  const { lat: latitude, lon: longitude, kilometres } = near
  const high = kilometres / KILOMETRES_A_DEGREE
  const [north, south] = [Math.min(90, latitude + high), Math.max(-90, latitude - high)]
  // Around a pole every longitude is near.
  const wide = high / Math.cos((Math.max(Math.abs(north), Math.abs(south)) * Math.PI) / 180)
  if (north === 90 || south === -90 || wide >= 180)
    return { north: round(north), south: round(south), east: 180, west: -180 }
  return { north: round(north), south: round(south), east: turn(longitude + wide), west: turn(longitude - wide) }
}

/** The name of `zone 4`, `area north` or `the harbour area`: what a text calls one. */
export function zoneName(text: string): string | undefined {
  const [, kind, name] = ZONE_FIRST.exec(text) ?? []
  if (name !== undefined && !NO_NAMES.has(name.toLowerCase())) return `${kind?.toLowerCase()} ${name}`
  const [, before, last] = ZONE_LAST.exec(text) ?? []
  return before === undefined || NO_NAMES.has(before.toLowerCase()) ? undefined : `${before} ${last?.toLowerCase()}`
}

/** A degree of latitude, and one of longitude at the equator. */
const KILOMETRES_A_DEGREE = 111.32

const ZONE_FIRST = /\b(zone|area) {1,3}([A-Za-z0-9][\w-]{0,60})/i
const ZONE_LAST = /\b(?:in|inside|within|of|from) {1,3}(?:the {1,3})?([A-Za-z0-9][\w-]{0,60}) {1,3}(zone|area)\b/i
/** Words that stand there and name nothing: `the area of Norway` is a size. */
const NO_NAMES: ReadonlySet<string> = new Set(
  'a an and are at by for from has have in is it of on or that the this to was were which with what same total'.split(
    ' ',
  ),
)

/** Degrees to about a tenth of a metre. */
function round(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6
}

function turn(degrees: number): number {
  if (degrees > 180) return round(degrees - 360)
  return round(degrees < -180 ? degrees + 360 : degrees)
}
