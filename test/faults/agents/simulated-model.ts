import type { DispatchRequest, Message, ToolOffer, ToolRequest } from '../../../shared/providers/provider.ts'
import type { Json } from '../../../shared/text/json.ts'
import { hashed, pickFrom } from '../rng.ts'

/** What a simulated model says to what it is shown. */
export interface Said {
  readonly text: string
  readonly calls: readonly ToolRequest[]
}

/** A question the model draws its next step from: the same words, the same number. */
type Dice = (what: string) => number

/**
 * A model that calls tools over several turns. It knows what a model could: its prompt, the conversation and the tools it
 * is offered, and nothing of the run. Shown the same it says the same. It calls several at once, tools there are not, with
 * arguments that are no JSON or do not fit, goes on without an end, and mostly does what it reads in results.
 */
export function modelSays(seed: number, { prompt, conversation = [], tools = [] }: DispatchRequest): Said {
  const seen = `${prompt}\n${JSON.stringify(conversation)}`
  const dice: Dice = (what) => hashed(seed, `model ${what} ${seen}`)
  const turn = conversation.filter(({ role }) => role === 'assistant').length
  const told = ordersIn(conversation, dice)
  const isRestless = hashed(seed, `restless ${prompt}`) < RESTLESS
  if (told.length === 0 && !isRestless && turn > 0 && dice('ends') < 0.1 + turn * 0.1) return answer(dice)
  const count = 1 + Math.floor(dice('count') * MOST_AT_ONCE)
  const own = Array.from({ length: count }, (_, n) => requestOf(tools, (what) => dice(`${n} ${what}`)))
  const calls = [...told, ...own].map((call, n) => ({ id: `call_${turn}_${n}`, ...call }))
  return { text: dice('speaks') < 0.5 ? '' : 'I look.', calls }
}

const RESTLESS = 0.12
const MOST_AT_ONCE = 3

function answer(dice: Dice): Said {
  const drawn = dice('answer')
  const text = drawn < 0.12 ? 'bad' : drawn < 0.16 ? '' : 'good answer'
  return { text, calls: [] }
}

type Wanted = Omit<ToolRequest, 'id'>

/** What the newest results ask for, as the server of the simulation writes it. */
function ordersIn(conversation: readonly Message[], dice: Dice): readonly Wanted[] {
  const last = conversation.findLastIndex(({ role }) => role === 'assistant')
  const texts = conversation.slice(last + 1).flatMap((one) => (one.role === 'tool' ? [one.text] : []))
  const orders = texts.flatMap((text) => [...text.matchAll(/Now call (\w+) with (\{[^}]*\})/g)])
  return orders.flatMap(([, tool = '', args = '']) => (dice(`obeys ${tool}`) < 0.8 ? [{ tool, arguments: args }] : []))
}

function requestOf(tools: readonly ToolOffer[], dice: Dice): Wanted {
  const offer = pickFrom(tools, dice('tool'))
  const drawn = dice('kind')
  if (offer === undefined || drawn < 0.03) return { tool: 'delete_everything', arguments: '{}' }
  if (drawn < 0.06) return { tool: offer.name, arguments: '{"amount":' }
  const args = argumentsFor(offer.input_schema, dice)
  const wrong = drawn < 0.1 ? { surplus_of_the_model: [1] } : {}
  return { tool: offer.name, arguments: JSON.stringify({ ...args, ...wrong }) }
}

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
  readonly required?: readonly string[]
}

function argumentsFor(schema: Json, dice: Dice): Readonly<Record<string, Json>> {
  const { properties = {}, required = [] } = schema as Schema
  const wanted = Object.entries(properties).filter(([name]) => required.includes(name) || dice(`gives ${name}`) < 0.2)
  return Object.fromEntries(
    wanted.flatMap(([name, { type }]) => {
      const value = valueFor(name, type, dice)
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}

function valueFor(name: string, type: string | undefined, dice: Dice): Json | undefined {
  if (type === 'string') return pickFrom(WORDS[name] ?? ['good', 'good words', 'bad'], dice(name))
  if (type === 'number' || type === 'integer') return Math.floor(dice(name) * 1_000)
  if (name === 'fields') return [{ name: 'amount', type: 'number' }]
  return type === undefined ? 'good' : undefined
}

/** Where any word does not do. */
const WORDS: Readonly<Record<string, readonly string[]>> = { name: ['a.md', 'b.md', 'c.md'], question: ['How much?'] }
