import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, inject, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import { randomFrom } from '../faults/rng.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'
import { earlierBuild } from './earlier-build.ts'
import { problemsOf } from './invariants.ts'
import type { DeployedTemplates } from './template.ts'

/**
 * The window of a gradual release (docs/adr/0092): the build before and this one at work on the same runs. Each call of a
 * function, whoever makes it, is answered by one of the two, drawn from a seed; that is more than a release asks, where a run
 * keeps the build it began with and only what no machine calls meets runs of both.
 */
const SEED = Number(process.env.SLUICE_SEED || 1)
const folder = mkdtempSync(join(tmpdir(), 'sluice-two-builds-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const block = (id: string, upstream: readonly string[], more = {}) => ({
  id,
  inputs: Object.fromEntries(upstream.map((other) => [other, { from: `${other}.text` }])),
  outputs: { text: { type: 'string' } },
  agent: { provider: 'local', model: 'outline', prompt: `Plan part ${id} of a small garden.` },
  post_gates: [{ name: 'there', check: { type: 'not_empty', port: 'text' } }],
  ...more,
})
const ASKS = { approval: { required: true, prompt: 'Go on?' } }
const DOCUMENTS = [
  {
    name: 'joins',
    blocks: [block('a', []), block('b', []), block('c', ['a']), block('d', ['a', 'b']), block('e', ['b', 'c'], ASKS)],
  },
  {
    name: 'loop',
    blocks: [
      block('a', []),
      block('b', ['a'], {
        post_gates: [{ name: 'undo', check: { type: 'contains', port: 'a', values: ['Rollback'] }, on_fail: 'route' }],
        on_gate_fail: [{ when_gate: 'undo', route_to: 'a', max_bounces: 2 }],
      }),
      block('c', ['b'], ASKS),
    ],
  },
].map((document) => JSON.stringify(document))

const earlier = earlierBuild()

test('this build and the one before answer calls of the same runs, drawn call by call, and every record holds', async ({
  skip,
}) => {
  if ('missing' in earlier) return skip(earlier.missing)
  const place = await deploy(inject('assembly'))
  try {
    expect(await problemsOfMixed(place, earlier.out, { rounds: 3, patience_ms: 240_000 })).toEqual([])
  } finally {
    await place.close(place.denied)
  }
}, 900_000)

test('a build that writes another word for what it records is found', async () => {
  const place = await deploy(inject('assembly'))
  try {
    const other = withOtherWord(place.templates, inject('assembly'))
    expect(await problemsOfMixed(place, other, { rounds: 1, patience_ms: 45_000 })).not.toEqual([])
  } finally {
    await place.close(place.denied)
  }
}, 600_000)

/** The build before has its own limit of requests a minute. */
const LOOK_MS = 2_000

interface Mixed {
  readonly rounds: number
  readonly patience_ms: number
}

/** Runs of each document, decided by a person where they ask; what is wrong with them at any look, and at their end. */
async function problemsOfMixed(
  place: Deployment,
  other: string,
  { rounds, patience_ms }: Mixed,
): Promise<readonly string[]> {
  const draw = randomFrom(SEED)
  let ofOther = 0
  let calls = 0
  place.mix(other, () => {
    calls += 1
    const isOther = draw() < 0.5
    if (isOther) ofOther += 1
    return isOther
  })
  const caller = callerOf(place.api.url)
  const plans = Array.from({ length: rounds }).flatMap(() => DOCUMENTS)
  const problems = await Promise.all(
    plans.map((dag) => watched(caller, dag, patience_ms).catch((error) => [String(error)])),
  )
  process.stdout.write(`seed ${SEED}: ${plans.length} runs, ${ofOther} of ${calls} calls by the other build\n`)
  expect(ofOther).toBeGreaterThan(0)
  return problems.flat()
}

async function watched(caller: Caller, dag: string, patience_ms: number): Promise<readonly string[]> {
  const id = await caller.start({ dag })
  let before: readonly RunEvent[] = []
  for (const end = Date.now() + patience_ms; Date.now() < end; await sleep(LOOK_MS)) {
    const events = await caller.events(id)
    // What was recorded stays, and both builds read the same in it.
    if (JSON.stringify(events.slice(0, before.length)) !== JSON.stringify(before)) return [`${id}: its record changed`]
    if (foldRun(events).seq !== events.length) return [`${id}: its record does not fold`]
    before = events
    const asked = events.find(({ type }) => type === 'approval:requested')
    const isDecided = events.some(({ type }) => type === 'approval:decided')
    if (asked !== undefined && !isDecided) await caller.decide(id, asked, 'approve')
    if (events.some(isEnd)) return ended(caller, id, dag, events)
  }
  return [`${id}: did not end: ${before.map(({ type }) => type).join(' ')}`]
}

async function ended(caller: Caller, id: string, dag: string, events: readonly RunEvent[]): Promise<readonly string[]> {
  const last = events.at(-1)?.type
  const verified = await Promise.all(Array.from({ length: 4 }, () => caller.call('GET', `/api/dag/runs/${id}/verify`)))
  return [
    ...(last === 'run:completed' ? [] : [`${id}: ended ${last}`]),
    ...problemsOf(events, dag).map((problem) => `${id}: ${problem}`),
    ...verified
      .filter(({ json }) => json.ok !== true)
      .map(({ status, text }) => `${id}: verify ${status} ${text.slice(0, 300)}`),
  ]
}

/** The same assembly with a planted mistake in every bundle: an event has another name. */
function withOtherWord(templates: DeployedTemplates, out: string): string {
  const other = join(folder, 'other')
  mkdirSync(other)
  const assets = templates
    .all('AWS::Lambda::Function')
    .map(({ properties: { Code } }) => basename(templates.asset((Code as { readonly S3Key: string }).S3Key)))
  for (const name of readdirSync(out)) if (!assets.includes(name)) symlinkSync(join(out, name), join(other, name))
  for (const asset of new Set(assets)) {
    cpSync(join(out, asset), join(other, asset), { recursive: true })
    const file = join(other, asset, 'index.mjs')
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('block:completed', 'block:finished'))
  }
  return other
}
