import { describe, expect, test } from 'vitest'
import { inWordsOfGraph } from '../../../shared/research/extractive/asked-words.ts'

const PREDICATES = [
  'rail.line.operator',
  'book.author',
  'team.lead',
  'branch.managed_by',
  'device.price_eur',
  'x.mentor',
  'hall.architect',
]
const THINGS = [
  { label: 'Blue Line', aliases: ['The Azure'] },
  { label: 'auth-proxy', aliases: ['login gate'] },
  { label: 'Login Gate Two', aliases: ['Azure'] },
  { label: 'North', aliases: ['Twin'] },
  { label: 'South', aliases: ['Twin'] },
]
const words = (topic: string, put: { word: string; predicate: string }[] = []) =>
  inWordsOfGraph(topic, { predicates: PREDICATES, things: THINGS, words: put })

describe('inWordsOfGraph()', () => {
  test.each([
    ['Who operates the Blue Line?', 'Who is the operator of the Blue Line?'],
    ['Which lines does Valley Rail operate?', 'Which lines have the operator Valley Rail?'],
    ['Which lines are operated by Valley Rail?', 'Which lines have the operator Valley Rail?'],
    ['Which lines are not operated by Valley Rail?', 'Which lines do not have the operator Valley Rail?'],
    ['What does Valley Rail operate?', 'What has the operator Valley Rail?'],
    ['Who wrote The Salt Road?', 'Who is the author of The Salt Road?'],
    ['Did Ada Brandt write Dunes?', 'Is Ada Brandt the author of Dunes?'],
    ['Was Dunes written by Ada Brandt?', 'Is Ada Brandt the author of Dunes?'],
    ['Whom does Tariq Aziz mentor?', 'What has the mentor Tariq Aziz?'],
    ['Who is mentored by Anouk Meyer?', 'Who has the mentor Anouk Meyer?'],
    ['Who is the manager of the Hill Branch?', 'Who managed the Hill Branch?'],
    ['How much does the scanner cost?', 'What is the price of the scanner?'],
    ['Where is the login gate?', 'Where is the auth-proxy?'],
    ['Where is Login Gate Two?', 'Where is Login Gate Two?'],
    ['Where is Twin?', 'Where is Twin?'],
    ['Who designed the hall?', 'Who is the architect of the hall?'],
    ['What did Architect Holt paint?', 'What did Architect Holt paint?'],
    ['Who painted the hall?', 'Who painted the hall?'],
  ])('%s', (topic, said) => expect(words(topic)).toBe(said))

  test('words that were put for a relation', () => {
    const put = [
      { word: 'run', predicate: 'rail.line.operator' },
      { word: 'tag', predicate: 'device.price_eur' },
      { word: 'ink', predicate: 'nothing.has_this' },
    ]
    expect(words('Who runs the Blue Line?', put)).toBe('Who is the operator of the Blue Line?')
    expect(words('What is the tag of the scanner?', put)).toBe('What is the price eur of the scanner?')
    expect(words('What ink does it use?', put)).toBe('What ink does it use?')
  })
})
