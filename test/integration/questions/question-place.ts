import type { PlaceOptions } from '../../../infra/local/place.ts'
import { RESEARCH_ROUTES, type ResearchAnswer } from '../../../shared/api/research-routes.ts'
import type { Entity } from '../../../shared/graph/entity.ts'
import type { Triple } from '../../../shared/graph/triple.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

const id = (type: string, name: string) => `acme.ops.geo.atlas.${type}.${name}`
const at = '2026-01-01T00:00:00.000Z'
const says = (subject: string, predicate: string, object: string | number): Triple => {
  return { subject, predicate, object, source: 'atlas', timestamp: at, confidence: 1, rule_opaque: false }
}

function country(name: string, label: string, capital: string, borders: readonly string[], area: number): Entity {
  const subject = id('country', name)
  return {
    entity_id: subject,
    label,
    snippet: `${label} is a country. Its capital is ${capital}.`,
    triples: [
      says(subject, 'geo.capital', id('city', capital.toLowerCase())),
      says(subject, 'geo.area', area),
      ...borders.map((other) => says(subject, 'geo.borders', id('country', other))),
    ],
  }
}

function city(name: string, snippet: string): Entity {
  return { entity_id: id('city', name.toLowerCase()), label: name, snippet }
}

const ATLAS: readonly Entity[] = [
  country('no', 'Norway', 'Oslo', ['se', 'fi'], 323802),
  country('se', 'Sweden', 'Stockholm', ['no', 'fi'], 450295),
  country('fi', 'Finland', 'Helsinki', ['no', 'se'], 338424),
  city('Oslo', 'Oslo is a city on a fjord.'),
  city('Stockholm', 'Stockholm is a city on islands.'),
  city('Helsinki', 'Helsinki is a city on the gulf.'),
]

/** A local place whose graph holds a few countries. */
export interface QuestionPlace extends TestPlace {
  /** POST /api/research; status and body. */
  ask(
    body: unknown,
    key?: string,
  ): Promise<{ readonly status: number; readonly json: Readonly<Record<string, unknown>> }>
  /** GET /api/research/{run_id}. */
  answer(
    runId: string,
    query?: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly json: Readonly<Record<string, unknown>> }>
  /** Asks, waits for the end, and parses the answer by the route's schema. */
  answered(body: unknown): Promise<ResearchAnswer>
}

export async function openQuestionPlace(
  options: PlaceOptions = {},
  settings: Readonly<Record<string, unknown>> & { readonly safety?: object } = {},
): Promise<QuestionPlace> {
  const test = await openTestPlace(options, settings)
  await test.place.world.graph.put('main', ATLAS)
  const send = async (name: string, event: object) => {
    const answer = (await test.place.invoke(name, { ...NO_EVENT, ...event })) as { statusCode: number; body: string }
    return { status: answer.statusCode, json: JSON.parse(answer.body) }
  }
  const ask: QuestionPlace['ask'] = (body, key) => {
    const headers = { ...NO_EVENT.headers, ...(key === undefined ? {} : { 'idempotency-key': key }) }
    return send('start-research', { httpMethod: 'POST', body: JSON.stringify(body), headers })
  }
  const answer: QuestionPlace['answer'] = (run_id, query = {}) =>
    send('get-research', { pathParameters: { run_id }, queryStringParameters: query })
  const answered: QuestionPlace['answered'] = async (body) => {
    const { status, json } = await ask(body)
    if (status >= 300) throw new Error(JSON.stringify(json))
    const runId = String(json.run_id)
    await test.ended(runId)
    return RESEARCH_ROUTES['get-research'].answer.parse((await answer(runId)).json)
  }
  return Object.assign(Object.create(test), { ask, answer, answered }) as QuestionPlace
}

const NO_EVENT = {
  httpMethod: 'GET',
  path: '/',
  pathParameters: null,
  queryStringParameters: null,
  headers: { 'content-type': 'application/json' },
  isBase64Encoded: false,
  body: null,
}
