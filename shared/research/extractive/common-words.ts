import { plainWords } from '../question/terms.ts'
import { MONTHS } from './question-form.ts'
import { predicateWords } from './thing-set.ts'

/**
 * What people say in other words than graphs do, whatever the graph is about: `in which year` for when, `born in` for a
 * birthplace, `based in` for headquarters.
 */
export function inCommonWords(topic: string, predicates: readonly string[]): string {
  const words = new Set(predicates.flatMap(predicateWords))
  const who = topic.replace(WHICH_PERSON, 'Who ')
  const timed = words.has('year') ? who : who.replace(IN_YEAR, 'When ')
  const counted = words.has('population') && !words.has('people') ? withPopulation(timed) : timed
  const based = withSeat(counted, words)
  return words.has('birthplace') ? withBirthplace(based) : based
}

const WHICH_PERSON = /^(?:which|what) (?:person|man|woman) (?!is\b|was\b)/i
const IN_YEAR = /^(?:in |on )?(?:which|what) (?:year|date|day|month) (?=(?:is|are|was|were|do|does|did|has|have|had) )/i

/** `more people than Seville`, `with more than 600000 people` */
function withPopulation(topic: string): string {
  return topic.replace(MORE_PEOPLE, '$1 population').replace(THAN_PEOPLE, (_, word: string, number: string) => {
    return `a population ${/more|over/i.test(word) ? 'over' : 'under'} ${number}`
  })
}

const MORE_PEOPLE = /\b(more|fewer|less|most|fewest) (?:people|inhabitants|residents)\b/gi
const THAN_PEOPLE = /\b((?:more|fewer|less) than|over|under) (\d[\d,.]*) (?:people|inhabitants|residents)(?=\s*\??$)/gi

/** `Where is Acme based?`, `In which country is Acme based?` */
function withSeat(topic: string, words: ReadonlySet<string>): string {
  const [, noun = '', name = ''] = SEAT_OF_KIND.exec(topic) ?? []
  if (noun !== '' && words.has(noun.toLowerCase())) return `What is the ${noun.toLowerCase()} of ${name}?`
  const seat = SEATS.find((one) => words.has(one))
  if (seat === undefined) return topic
  return topic.replace(SEAT, (_, of: string) => `What is the ${seat} of ${of}?`)
}

const SEAT_OF_KIND =
  /^(?:in |at |from )?(?:which|what) (\p{L}+) (?:is|are|was|were) (.{1,100}?) (?:based|located|situated|headquartered)(?: in| at)?\??$/iu
const SEAT = /^where (?:is|are|was|were) (?:the )?(.{1,100}?) (?:based|headquartered)\??$/i
const SEATS = ['headquarters', 'seat', 'base', 'location', 'city']

/** `How many people were born in Oslo?` asks who has that birthplace. */
function withBirthplace(topic: string): string {
  return topic
    .replace(BORN_WHERE, 'that is the birthplace of $1')
    .replace(WHERE_BORN, 'What is the birthplace of $1?')
    .replace(WAS_BORN_IN, (whole, name: string, place: string) =>
      isTime(place) || / or /.test(place) ? whole : `Is ${place} the birthplace of ${name}?`,
    )
    .replace(BORN_IN, (whole, start: string, place: string) => {
      if (isTime(place) || WHETHER.test(topic)) return whole
      if (/^who (?:was|were) $/i.test(start)) return `Who has the birthplace ${place}`
      const who = /that|who/.exec(start)?.[0] ?? ''
      return `${/not|never/.test(start) ? 'do not have' : `${who} have`.trim()} the birthplace ${place}`
    })
}

const WHERE_BORN =
  /^(?:where|in (?:what|which) (?:city|town|place|village|country)) (?:was|were) ([^,?]{1,100}?) born\??$/i
const BORN_WHERE = /(?<=\S )where ([^,?]{1,100}?) (?:was|were) born\b/i
const WHETHER = /^(?:was|were) /i
const WAS_BORN_IN = /^(?:[Ww]as|[Ww]ere) ([^,?]{1,100}?) born in (\p{Lu}[^,?]{1,100})\??$/u
const BORN_IN =
  /(?<!\p{L})(Who (?:was|were) |(?:(?:that|who) )?(?:(?:was|were) )?(?:(?:not|never) )?)born in (\p{Lu}[\p{L}\p{M}'’.-]*)/gu

function isTime(word: string): boolean {
  return MONTHS.split(' ').includes(plainWords(word)[0] ?? '')
}

/** Words for one kind of thing: what a question calls a company may be an organisation of the graph. */
const KINDS = [
  'company organisation organization firm corporation business enterprise institution',
  'person human man woman',
  'city town place village municipality',
].map((words) => words.split(' '))

/**
 * Other words for the kind of the one thing a question asks for (`Which company ..`). Of several, or of a number of them,
 * there are none: which organisations are companies nobody says.
 */
export function otherWordsForKind(topic: string, word: string): readonly string[] {
  const isAskedFor = new RegExp(`^(?:(?:in|at|to|from|by|of|for) )?(?:which|what) ${word} `).test(
    `${plainWords(topic).join(' ')} `,
  )
  return isAskedFor ? (KINDS.find((words) => words.includes(word)) ?? []).filter((other) => other !== word) : []
}
