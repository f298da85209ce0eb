import { atlasId, type SourceCountry } from '../../../scripts/atlas/sources.ts'

/** A question of the country graph that no single entity answers; each of the answers is right. */
export interface HopQuestion {
  readonly kind: string
  readonly text: string
  readonly answers: readonly string[]
}

/** The id of a country's only capital. */
type CapitalId = (country: SourceCountry) => string | undefined

/**
 * Questions of two and three hops with every country that allows one, so that nobody chose among them; names that two
 * things have (Monaco, Singapore) ask nothing.
 */
export function countryQuestions(countries: readonly SourceCountry[], capitalId: CapitalId): readonly HopQuestion[] {
  const uses = Map.groupBy(
    countries.flatMap(({ name, capital }) => [name.common, ...capital]),
    (name) => name.toLowerCase(),
  )
  const unique = countries.filter(({ capital: [capital = ''] }) => uses.get(capital.toLowerCase())?.length === 1)
  return [
    ...unique.filter(({ capital }) => capital.length === 1).flatMap(ofCapital),
    ...ofCurrency(countries, capitalId),
    ...ofBorder(countries, capitalId),
    ...ofTwoBorders(countries, capitalId),
  ].filter(({ answers }) => answers.length > 0)
}

function ofCapital({ capital, currencies, languages, subregion, borders }: SourceCountry): readonly HopQuestion[] {
  const that = `the country whose capital is ${capital[0]}`
  const ids = (type: Parameters<typeof atlasId>[0], parts: readonly string[]) =>
    parts.map((part) => atlasId(type, part))
  return [
    {
      kind: 'capital > currency',
      text: `Which currency is used in ${that}?`,
      answers: ids('currency', Object.keys(currencies)),
    },
    {
      kind: 'capital > language',
      text: `Which language is spoken in ${that}?`,
      answers: ids('language', Object.keys(languages)),
    },
    {
      kind: 'capital > subregion',
      text: `In which subregion of the world is ${that}?`,
      answers: ids('subregion', subregion === '' ? [] : [subregion]),
    },
    { kind: 'capital > neighbour', text: `Which country borders ${that}?`, answers: ids('country', borders) },
  ]
}

function ofCurrency(countries: readonly SourceCountry[], capitalId: CapitalId): readonly HopQuestion[] {
  const users = Map.groupBy(
    countries.flatMap((country) => Object.values(country.currencies).map(({ name }) => ({ name, country }))),
    ({ name }) => name,
  )
  return [...users].flatMap(([name, [only, ...others]]) =>
    only === undefined || others.length > 0
      ? []
      : [capitalQuestion('currency > capital', `the country whose currency is the ${name}`, only.country, capitalId)],
  )
}

function ofBorder(countries: readonly SourceCountry[], capitalId: CapitalId): readonly HopQuestion[] {
  const byCode = new Map(countries.map((country) => [country.cca3, country]))
  return countries.flatMap(({ name, borders: [only = '', ...others] }) => {
    const country = byCode.get(only)
    if (country === undefined || others.length > 0) return []
    return [capitalQuestion('neighbour > capital', `the country that borders ${name.common}`, country, capitalId)]
  })
}

/** Of every two countries with one neighbour in common. */
function ofTwoBorders(countries: readonly SourceCountry[], capitalId: CapitalId): readonly HopQuestion[] {
  const questions: HopQuestion[] = []
  for (const [at, one] of countries.entries()) {
    for (const other of countries.slice(at + 1)) {
      const [only, ...others] = countries.filter(
        ({ cca3 }) => one.borders.includes(cca3) && other.borders.includes(cca3),
      )
      if (only === undefined || others.length > 0) continue
      const both = `borders both ${one.name.common} and ${other.name.common}`
      questions.push(
        { kind: 'two neighbours', text: `Which country ${both}?`, answers: [atlasId('country', only.cca3)] },
        capitalQuestion('two neighbours > capital', `the country that ${both}`, only, capitalId),
      )
    }
  }
  return questions
}

function capitalQuestion(kind: string, of: string, country: SourceCountry, capitalId: CapitalId): HopQuestion {
  const answer = capitalId(country)
  return { kind, text: `What is the capital of ${of}?`, answers: answer === undefined ? [] : [answer] }
}
