import type { BenchEntity } from './open-bench-graph.ts'

/**
 * A small graph for questions of many kinds: elements, who found them and where those were born, companies, bridges and
 * rivers, made-up countries with their airports, and reports in prose. Elements and people are as encyclopaedias have
 * them; the rest is made up.
 */
export function kindsGraph(): readonly BenchEntity[] {
  return [...ELEMENTS.map(elementOf), ...THINGS.map(thingOf), ...airports(), ...REPORTS.map(reportOf)]
}

const AT = '2026-11-01T00:00:00.000Z'

const kindId = (type: string, label: string) =>
  `acme.bench.kinds.atlas.${type}.${label
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase()}`

type Said = Readonly<Record<string, string | number | readonly string[]>>

function entity(type: string, label: string, says: Said, rest: Partial<BenchEntity> = {}): BenchEntity {
  const entity_id = kindId(type, label)
  const triples = Object.entries(says).flatMap(([predicate, objects]) =>
    [objects].flat().map((object) => ({
      subject: entity_id,
      predicate,
      object,
      source: 'bench',
      timestamp: AT,
      confidence: 1,
      rule_opaque: false,
    })),
  )
  return { entity_id, label, type, triples, ...rest }
}

/** Label, number, mass, year, who found it, state. */
const ELEMENTS: readonly (readonly [string, number, number, number, readonly string[], string])[] = [
  ['Hydrogen', 1, 1.008, 1766, ['Henry Cavendish'], 'gas'],
  ['Lithium', 3, 6.94, 1817, ['Johan August Arfwedson'], 'solid'],
  ['Nitrogen', 7, 14.007, 1772, ['Daniel Rutherford'], 'gas'],
  ['Oxygen', 8, 15.999, 1774, ['Carl Wilhelm Scheele'], 'gas'],
  ['Neon', 10, 20.18, 1898, ['William Ramsay', 'Morris Travers'], 'gas'],
  ['Sodium', 11, 22.99, 1807, ['Humphry Davy'], 'solid'],
  ['Magnesium', 12, 24.305, 1808, ['Humphry Davy'], 'solid'],
  ['Chlorine', 17, 35.45, 1774, ['Carl Wilhelm Scheele'], 'gas'],
  ['Argon', 18, 39.95, 1894, ['William Ramsay', 'Lord Rayleigh'], 'gas'],
  ['Potassium', 19, 39.098, 1807, ['Humphry Davy'], 'solid'],
  ['Gallium', 31, 69.723, 1875, ['Paul-Émile Lecoq de Boisbaudran'], 'solid'],
  ['Germanium', 32, 72.63, 1886, ['Clemens Winkler'], 'solid'],
  ['Krypton', 36, 83.798, 1898, ['William Ramsay', 'Morris Travers'], 'gas'],
  ['Iodine', 53, 126.904, 1811, ['Bernard Courtois'], 'solid'],
  ['Xenon', 54, 131.293, 1898, ['William Ramsay', 'Morris Travers'], 'gas'],
  ['Polonium', 84, 209, 1898, ['Marie Curie', 'Pierre Curie'], 'solid'],
  ['Radium', 88, 226, 1898, ['Marie Curie', 'Pierre Curie'], 'solid'],
  ['Actinium', 89, 227, 1899, ['André-Louis Debierne'], 'solid'],
  ['Uranium', 92, 238.029, 1789, ['Martin Heinrich Klaproth'], 'solid'],
]

function elementOf([label, number, mass, year, finders, state]: (typeof ELEMENTS)[number]): BenchEntity {
  return entity(
    'element',
    label,
    {
      'chem.atomic_number': number,
      'chem.atomic_mass': mass,
      'chem.discovered': year,
      'chem.discovered_by': finders.map((name) => kindId('person', name)),
      'chem.state': state,
    },
    { snippet: `${label} is a chemical element.` },
  )
}

const city = (label: string) => kindId('city', label)
const country = (label: string) => kindId('country', label)

/** Type, label, what it states. */
const THINGS: readonly (readonly [string, string, Said])[] = [
  ['person', 'Henry Cavendish', { 'bio.born': 1731, 'bio.died': 1810, 'bio.birthplace': city('Nice') }],
  ['person', 'Johan August Arfwedson', { 'bio.born': 1792, 'bio.died': 1841, 'bio.birthplace': city('Skagersholm') }],
  ['person', 'Daniel Rutherford', { 'bio.born': 1749, 'bio.died': 1819, 'bio.birthplace': city('Edinburgh') }],
  ['person', 'Carl Wilhelm Scheele', { 'bio.born': 1742, 'bio.died': 1786, 'bio.birthplace': city('Stralsund') }],
  ['person', 'William Ramsay', { 'bio.born': 1852, 'bio.died': 1916, 'bio.birthplace': city('Glasgow') }],
  ['person', 'Morris Travers', { 'bio.born': 1872, 'bio.died': 1961, 'bio.birthplace': city('London') }],
  ['person', 'Humphry Davy', { 'bio.born': 1778, 'bio.died': 1829, 'bio.taught': kindId('person', 'Michael Faraday') }],
  ['person', 'Michael Faraday', { 'bio.born': 1791, 'bio.died': 1867, 'bio.birthplace': city('London') }],
  ['person', 'Marie Curie', { 'bio.born': 1867, 'bio.died': 1934, 'bio.birthplace': city('Warsaw') }],
  ['person', 'Pierre Curie', { 'bio.born': 1859, 'bio.died': 1906, 'bio.birthplace': city('Paris') }],
  ['person', 'Clemens Winkler', { 'bio.born': 1838, 'bio.died': 1904, 'bio.birthplace': city('Freiberg') }],
  ['city', 'Warsaw', { 'geo.population': 1863000, 'geo.river': kindId('river', 'Vistula') }],
  ['city', 'Paris', { 'geo.population': 2103000, 'geo.river': kindId('river', 'Seine') }],
  ['city', 'Glasgow', { 'geo.population': 632000, 'geo.river': kindId('river', 'Clyde') }],
  ['city', 'London', { 'geo.population': 8866000, 'geo.river': kindId('river', 'Thames') }],
  ['city', 'Edinburgh', { 'geo.population': 514000 }],
  ['river', 'Vistula', { 'geo.length_km': 1047 }],
  ['river', 'Seine', { 'geo.length_km': 777 }],
  ['river', 'Clyde', { 'geo.length_km': 170 }],
  ['river', 'Thames', { 'geo.length_km': 346 }],
  [
    'company',
    'Corvane',
    {
      'corp.founded': 1961,
      'corp.acquired': kindId('company', 'Bexley Labs'),
      'corp.employees': 5200,
      'corp.headquarters': city('London'),
    },
  ],
  [
    'company',
    'Bexley Labs',
    {
      'corp.founded': 1984,
      'corp.acquired': kindId('company', 'Tarn Optics'),
      'corp.employees': 340,
      'corp.headquarters': city('Glasgow'),
    },
  ],
  [
    'company',
    'Tarn Optics',
    {
      'corp.founded': 1999,
      'corp.employees': 75,
      'corp.founder': kindId('person', 'Ada Holm'),
      'corp.headquarters': city('Edinburgh'),
    },
  ],
  [
    'company',
    'Mirelle',
    {
      'corp.founded': 1972,
      'corp.supplies': kindId('company', 'Corvane'),
      'corp.employees': 910,
      'corp.headquarters': city('Paris'),
    },
  ],
  ['person', 'Ada Holm', { 'bio.born': 1970 }],
  [
    'bridge',
    'Kestrel Bridge',
    { 'infra.opened': '1932-03-19', 'infra.length_m': 1149, 'infra.crosses': kindId('river', 'Thames') },
  ],
  [
    'bridge',
    'Orlo Bridge',
    { 'infra.opened': '1909-06-12', 'infra.length_m': 2270, 'infra.crosses': kindId('river', 'Clyde') },
  ],
  [
    'bridge',
    'Pell Bridge',
    { 'infra.opened': '1998-04-05', 'infra.length_m': 3911, 'infra.crosses': kindId('river', 'Vistula') },
  ],
  [
    'bridge',
    'Sallow Bridge',
    { 'infra.opened': '1937-05-27', 'infra.length_m': 2737, 'infra.crosses': kindId('river', 'Thames') },
  ],
  [
    'country',
    'Norland',
    {
      'geo.capital': city('Norhaven'),
      'geo.currency': kindId('currency', 'Crown'),
      'geo.borders': [country('Ostria'), country('Velmark')],
      'geo.area_km2': 323000,
    },
  ],
  [
    'country',
    'Ostria',
    {
      'geo.capital': city('Ostburg'),
      'geo.currency': kindId('currency', 'Mark'),
      'geo.borders': [country('Norland'), country('Velmark'), country('Sudra')],
      'geo.area_km2': 84000,
    },
  ],
  [
    'country',
    'Velmark',
    {
      'geo.capital': city('Velby'),
      'geo.currency': kindId('currency', 'Crown'),
      'geo.borders': [country('Norland'), country('Ostria')],
      'geo.area_km2': 450000,
    },
  ],
  [
    'country',
    'Sudra',
    {
      'geo.capital': city('Sudport'),
      'geo.currency': kindId('currency', 'Mark'),
      'geo.borders': [country('Ostria'), country('Ilmar')],
      'geo.area_km2': 61000,
    },
  ],
  [
    'country',
    'Ilmar',
    {
      'geo.capital': city('Ilm'),
      'geo.currency': kindId('currency', 'Lira'),
      'geo.borders': country('Sudra'),
      'geo.area_km2': 9800,
    },
  ],
  ['currency', 'Crown', {}],
  ['currency', 'Mark', {}],
  ['currency', 'Lira', {}],
  ...['Norhaven', 'Ostburg', 'Velby', 'Sudport', 'Ilm'].map((label) => ['city', label, {}] as const),
]

function thingOf([type, label, says]: (typeof THINGS)[number]): BenchEntity {
  return entity(type, label, says)
}

/** 47 of Norland, 5 of Ostria. */
function airports(): readonly BenchEntity[] {
  return Array.from({ length: 52 }, (_, at) =>
    entity('airport', `${SYLLABLES[at % 8]}${ENDS[Math.floor(at / 8)]} Airport`, {
      'aero.country': country(at < 47 ? 'Norland' : 'Ostria'),
      'aero.elevation_m': 3 + ((at * 37) % 911),
      'aero.runways': 1 + (at % 3),
    }),
  )
}

const SYLLABLES = ['Al', 'Ber', 'Cor', 'Dun', 'Es', 'Fal', 'Gor', 'Hav']
const ENDS = ['vik', 'nes', 'dal', 'moen', 'sund', 'fjell', 'heim']

const REPORTS: readonly (readonly [string, string])[] = [
  [
    'The Halvard expedition',
    'The Halvard expedition left Norhaven in May 1911 with two ships. Its leader was Ingrid Solberg. The larger ship, the Petrel, was crushed by ice in October 1912. The crew of 31 reached the coast on foot. The expedition never reached the pole. The Geographical Society paid for the voyage.',
  ],
  [
    'The Lumen reactor',
    'The Lumen reactor was built in Ostburg between 1968 and 1974. It was designed by Tomas Verrell. The reactor was shut down in 1991 after a leak in its second cooling loop. Nobody was injured. The site was cleared by 2003 at a cost of 410 million marks.',
  ],
  [
    'The Moth virus',
    'The Moth virus was first described in 1987 by Lena Okoro. It infects the larvae of silk moths. It does not infect honey bees. Copper sulfate does not stop it. Heat of 60 degrees for ten minutes destroys it.',
  ],
  [
    'Brannock Castle',
    'Brannock Castle stands on a rock above the Clyde. It was begun in 1204 and finished in 1231. Duke Alaric sold the castle to the Merrow family in 1688. The Merrow family gave it to the town of Glasgow in 1922.',
  ],
  [
    'The Tern (film)',
    'The Tern is a film of 1974. Rosa Lindqvist directed it, and Emil Varga wrote the music. It was shot in Velby. The film won three prizes at the festival of Ilm. Nora Bast played the pilot.',
  ],
]

function reportOf([label, body]: (typeof REPORTS)[number]): BenchEntity {
  return entity('report', label, {}, { body })
}
