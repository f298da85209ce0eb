import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ai, type EndedRun, openRetryPlace, type RetryPlace } from './retry-place.ts'

interface Sketch {
  readonly id: string
  readonly from: readonly string[]
  readonly words: string
  /** Its prompt has the run input `tone`. */
  readonly toned: boolean
}

/** One run of a chain of retries, as a model knows it. */
interface Known {
  readonly again: ReadonlySet<string>
  /** Block -> what it was made of: its definition and its inputs. */
  readonly made: ReadonlyMap<string, string>
}

interface Step {
  readonly failing: readonly number[]
  readonly from?: number | null
  readonly edited?: number | null
  readonly tone: string
}

let place: RetryPlace
beforeAll(async () => {
  place = await openRetryPlace()
})
afterAll(() => place.place.close())

const someDag = fc
  .array(fc.record({ wires: fc.array(fc.nat(), { maxLength: 3 }), toned: fc.boolean() }), {
    minLength: 1,
    maxLength: 9,
  })
  .map((drafts): readonly Sketch[] =>
    drafts.map(({ wires, toned }, i) => ({
      id: `b${i}`,
      from: i === 0 ? [] : [...new Set(wires.map((wire) => `b${wire % i}`))],
      words: '',
      toned,
    })),
  )
const someStep = fc.record({
  failing: fc.array(fc.nat(), { maxLength: 2 }),
  from: fc.option(fc.nat(), { freq: 2 }),
  edited: fc.option(fc.nat(), { freq: 2 }),
  tone: fc.constantFrom('dry', 'dry', 'warm'),
})

test('a chain of retries asks for exactly what no earlier run of it has, and ends as a run that never failed', {
  tags: ['thorough'],
}, async () => {
  const law = fc.asyncProperty(someDag, fc.array(someStep, { minLength: 1, maxLength: 3 }), async (dag, steps) => {
    await follow(dag, [...steps, { failing: [], tone: 'dry' }])
  })
  await fc.assert(law, { numRuns: 25 })
})

/** The first step is a run, each other one the retry of the one before. */
async function follow(first: readonly Sketch[], steps: readonly Step[]): Promise<void> {
  const chain: Known[] = []
  let dag = first
  let run: EndedRun | undefined
  for (const [i, step] of steps.entries()) {
    dag = dag.map((block, at) => (at === indexAt(step.edited, dag) ? { ...block, words: `${block.words}+` } : block))
    const failing = new Set(step.failing.map((at) => `b${at % dag.length}`))
    const from = i === 0 ? undefined : nameAt(step.from, dag)
    const model = expected(dag, step.tone, failing, chain, from)
    chain.unshift(model.known)
    for (const id of failing) place.failing.add(id)
    const body = { dag: document(dag), inputs: { tone: step.tone } }
    run =
      run === undefined
        ? await place.run(body.dag, { inputs: body.inputs })
        : await place.retry(run, { ...body, ...(from === undefined ? {} : { from_block: from }) })
    place.failing.clear()
    expect([...place.asked()].sort()).toEqual([...model.asked].sort())
  }
  expect(run?.end).toBe('run:completed')
  for (const [id, value] of valuesOf(dag, 'dry')) expect(await place.output(run as EndedRun, id)).toBe(value)
}

const indexAt = (at: number | null | undefined, dag: readonly Sketch[]) => (at == null ? undefined : at % dag.length)
const nameAt = (at: number | null | undefined, dag: readonly Sketch[]) =>
  at == null ? undefined : `b${at % dag.length}`

function document(dag: readonly Sketch[]): object {
  return {
    inputs: { tone: { type: 'string', default: 'plain' } },
    blocks: dag.map(({ id, from, words, toned }) => ai(id, from, {}, `${words}${toned ? '{{inputs.tone}}' : ''}`)),
  }
}

/** What each block answers: the probe says its prompt back. */
function valuesOf(dag: readonly Sketch[], tone: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const { id, from, words, toned } of dag) {
    const reads = from.map((source) => values.get(source)).join(' ')
    values.set(id, `<${id} ${words}${toned ? tone : ''} ${reads}>`)
  }
  return values
}

function expected(
  dag: readonly Sketch[],
  tone: string,
  failing: ReadonlySet<string>,
  chain: readonly Known[],
  from: string | undefined,
) {
  const values = valuesOf(dag, tone)
  const again = afterIn(dag, from)
  const made = new Map<string, string>()
  const asked: string[] = []
  for (const block of dag) {
    if (!block.from.every((source) => made.has(source))) continue
    const own = JSON.stringify([block, block.from.map((source) => values.get(source)), block.toned ? tone : ''])
    const taken = !again.has(block.id) && isKnown(chain, block.id, own)
    if (!taken) asked.push(block.id)
    if (taken || !failing.has(block.id)) made.set(block.id, own)
  }
  return { asked, known: { again, made } }
}

function isKnown(chain: readonly Known[], id: string, own: string): boolean {
  for (const { made, again } of chain) {
    if (made.get(id) === own) return true
    if (again.has(id)) return false
  }
  return false
}

function afterIn(dag: readonly Sketch[], from: string | undefined): ReadonlySet<string> {
  const found = new Set(from === undefined ? [] : [from])
  for (const block of dag) if (block.from.some((source) => found.has(source))) found.add(block.id)
  return found
}
