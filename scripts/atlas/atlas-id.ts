import { plainName } from './place-name.ts'

export type AtlasType = 'country' | 'city' | 'region' | 'subregion' | 'currency' | 'language'

/** `open.data.geo.atlas.country.nor`: the last segment is the parts, small letters and digits joined by `-`. */
export function atlasId(type: AtlasType, ...parts: readonly string[]): string {
  return `open.data.geo.atlas.${type}.${parts.map((part) => plainName(part)).join('-')}`
}
