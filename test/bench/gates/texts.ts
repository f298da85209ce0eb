import { createRequire } from 'node:module'
import type { Json } from '../../../shared/text/json.ts'

/** What the gates look at: about `bytes` bytes each, made of the countries of the world, the same every time. */
export interface Texts {
  /** Markdown: a section a region, a paragraph a country, a JSON object in a code fence at the end. */
  readonly brief: string
  /** The rows as JSON text, as CSV, and as they are. */
  readonly json: string
  readonly csv: string
  readonly rows: Json
}

export function textsOf(bytes: number): Texts {
  const all = rowsOf()
  const rows = all.slice(
    0,
    howMany(all, bytes, (row) => JSON.stringify(row, null, 1)),
  )
  const table = all.slice(0, howMany(all, bytes, csvLine))
  return {
    brief: brief(all.slice(0, howMany(all, bytes, paragraph))),
    json: JSON.stringify(rows, null, 1),
    csv: [COLUMNS.join(','), ...table.map(csvLine), ''].join('\r\n'),
    rows,
  }
}

const COLUMNS = ['name', 'official', 'code', 'region', 'subregion', 'capital', 'area', 'borders'] as const

type Row = Readonly<Record<(typeof COLUMNS)[number], string | number>>

/** Several passes over the countries, numbered, so that every format can fill its bytes. */
function rowsOf(): readonly Row[] {
  const countries = createRequire(import.meta.url)('world-countries') as readonly Country[]
  return [1, 2, 3, 4, 5, 6].flatMap((edition) =>
    countries.map(({ name, cca3, region, subregion, capital, area, borders }) => ({
      name: name.common,
      official: name.official,
      code: `${cca3}-${edition}`,
      region,
      subregion,
      capital: capital[0] ?? 'none',
      area,
      borders: borders.join(' '),
    })),
  )
}

interface Country {
  readonly name: { readonly common: string; readonly official: string }
  readonly cca3: string
  readonly region: string
  readonly subregion: string
  readonly capital: readonly string[]
  readonly area: number
  readonly borders: readonly string[]
}

function howMany(rows: readonly Row[], bytes: number, write: (row: Row) => string): number {
  let sum = 0
  const over = rows.findIndex((row) => {
    sum += Buffer.byteLength(write(row))
    return sum > bytes
  })
  return over < 0 ? rows.length : over
}

function csvLine(row: Row): string {
  return COLUMNS.map((column) => `"${String(row[column]).replaceAll('"', '""')}"`).join(',')
}

function brief(rows: readonly Row[]): string {
  const regions = [...new Set(rows.map(({ region }) => region))]
  const sections = regions.map(
    (region) =>
      `## ${region}\n\n${rows
        .filter((row) => row.region === region)
        .map(paragraph)
        .join('\n')}`,
  )
  const summary = JSON.stringify({ countries: rows.length, regions }, null, 2)
  return `# The countries of the world\n\n${sections.join('\n')}\n## Risks\n\nBorders change.\n\n\`\`\`json\n${summary}\n\`\`\`\n`
}

function paragraph({ name, official, code, subregion, capital, area, borders }: Row): string {
  const neighbours = borders === '' ? 'no land borders' : `land borders with ${borders}`
  return `### ${name} (${code})\n\n${official} lies in ${subregion}, has an area of ${area} km² and ${neighbours}. Its capital is ${capital}; see [the table](table.csv) for the rest.\n`
}
