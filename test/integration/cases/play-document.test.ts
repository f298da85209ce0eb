import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { calls, playDocument } from '../../../clients/sdk/testing.ts'

/** `sluice/testing`: documents played in this process. */
const project = mkdtempSync(join(tmpdir(), 'sluice-played-'))

beforeAll(() => {
  mkdirSync(join(project, 'steps'))
  writeFileSync(
    join(project, 'sluice.yaml'),
    `providers:
  big: { type: openai-compatible, url: "https://models.example", key: { env: NOBODY_SETS_THIS } }
  small: { type: ollama, url: "http://127.0.0.1:1" }
mcp_servers:
  crm: { url: "https://crm.example/mcp", tools: [find], effects: { find: read } }
`,
  )
  writeFileSync(
    join(project, 'steps', 'length.ts'),
    `import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
  description: 'Counts.',
  inputs: z.object({ text: z.string() }),
  outputs: z.object({ n: z.number() }),
  run: ({ inputs }) => ({ n: inputs.text.length }),
})
`,
  )
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

const WRITE = `
name: write
inputs: { topic: { type: string, default: gates } }
blocks:
  - id: draft
    inputs: { topic: string }
    outputs: { text: string }
    agent: { provider: big, model: m, prompt: "Write about {{inputs.topic}}.", fallback: [{ provider: small, model: s }] }
    retry: { max_attempts: 3, delay_ms: 30000, backoff: none, jitter: none }
    post_gates: [{ name: long, check: { type: min_length, port: text, min: 10 } }]
  - id: publish
    inputs: { text: { from: draft.text } }
    outputs: { done: string }
    mode: deterministic
    deterministic: { handler: transform, config: { expression: inputs.text } }
    approval: { prompt: "Publish?", show: [text], edit: [text], timeout_sec: 86400, on_timeout: reject }
`

describe('a document that is played', () => {
  test('is answered by scripts, which see what models are shown; time in which it waits takes none', async () => {
    const prompts: string[] = []
    const run = await playDocument(WRITE, {
      project,
      models: {
        big: (seen) => {
          prompts.push(seen.prompt)
          return seen.prompt.includes('was refused') ? 'Long enough now.' : 'Short.'
        },
      },
      decisions: 'approve',
    })
    expect([run.status, run.problems]).toEqual(['completed', []])
    expect(run.output('publish.done')).toBe('Long enough now.')
    expect(run.gates['draft.long']?.map(({ status }) => status)).toEqual(['failed', 'passed'])
    expect(run.waited_sec).toBe(30)
    expect(run.called('big')).toBe(2)
    expect(prompts[0]).toBe('Write about gates.')
    await run.expect(
      { attempts: { draft: 2 }, calls: { models: { big: 2, small: 0 } }, asked: { publish: 1 }, cost: { usd: 0 } },
      { show: ['NOBODY_SETS_THIS'] },
    )
  })

  test('asks the fallback where a script fails', async () => {
    const models = { big: { fail: 'refused' as const }, small: 'From the small one.' }
    const run = await playDocument(WRITE, { project, models, decisions: 'approve' })
    expect(run.output('draft.text')).toBe('From the small one.')
    expect([run.called('big'), run.called('small')]).toEqual([1, 1])
  })

  test('fails where nothing answers a model, and says what it was shown', async () => {
    const run = await playDocument(WRITE, { project })
    expect(run.status).toBe('failed')
    expect(run.problems[0]).toContain(
      'No script answers provider "big" (model "m", turn 0): it is shown "Write about gates."',
    )
    await expect(run.expect({ status: 'failed' })).rejects.toThrow('Add a line to models.big of the case.')
  })

  test('decides what it is told, with edits, and says what nobody was asked for', async () => {
    const models = { big: 'A text that is long enough.' }
    const run = await playDocument(WRITE, {
      project,
      models,
      decisions: [
        { block: 'publish', decision: 'approve', edits: { text: 'Mine.' }, after: 7_200 },
        { block: 'publish', decision: 'reject' },
      ],
    })
    expect(run.output('publish.done')).toBe('Mine.')
    expect(run.waited_sec).toBe(7_200)
    expect(run.problems).toEqual(['Nobody was asked about "publish" when the case had "reject" to say.'])
  })

  test('waits a day for people who are not there, in no time', async () => {
    const run = await playDocument(WRITE, { project, models: { big: 'A text that is long enough.' } })
    expect([run.status, run.code, run.waited_sec >= 86_400]).toEqual(['failed', 'approval_expired', true])
    expect(run.took_ms).toBeLessThan(60_000)
  })
})

const AGENT = `
name: agent
blocks:
  - id: act
    outputs: { answer: string }
    agent: { provider: big, model: m, prompt: Who is it?, tools: [crm.find] }
  - id: count
    inputs: { text: { from: act.answer } }
    outputs: { n: number }
    mode: deterministic
    deterministic: { handler: ./steps/length.ts }
`

describe('agents and steps', () => {
  test('are scripted: tools of servers are told, steps begin and end as any other', async () => {
    const run = await playDocument(AGENT, {
      project,
      models: {
        big: ({ turn, results }) =>
          turn === 0
            ? calls({ tool: 'crm__find', arguments: { mail: 'ada@example.com' } })
            : `It is ${/Ada/.exec(results[0]?.text ?? '')?.[0]}.`,
      },
      tools: {
        'crm.find': {
          description: 'Finds people.',
          input_schema: { type: 'object' },
          answers: [{ when: { mail: 'ada@example.com' }, result: 'Ada' }],
        },
      },
      steps: { './steps/length.ts': [{ outputs: { n: 42 }, takes: 120 }] },
    })
    expect([run.status, run.reason, run.problems]).toEqual(['completed', 'all 2 blocks completed', []])
    expect(run.outputs).toMatchObject({ 'act.answer': 'It is Ada.', 'count.n': 42 })
    await run.expect({ calls: { tools: { 'crm.find': 1 }, steps: { './steps/length.ts': 1 } } })
    expect(run.waited_sec).toBe(120)
  })

  test('a step without a script runs as it is', async () => {
    const text = AGENT.replace(', tools: [crm.find]', '')
    const run = await playDocument(text, { project, models: { big: 'Ada' } })
    expect([run.status, run.reason]).toEqual(['completed', 'all 2 blocks completed'])
    expect(run.output('count.n')).toBe(3)
    expect(run.waited_sec).toBe(0)
  })
})

test('a document that cannot be started is a Fault, with its place', async () => {
  await expect(playDocument('name: x\nblocks: [{ id: a, mode: nothing }]\n', { project })).rejects.toMatchObject({
    code: 'invalid_dag',
    message: expect.stringMatching(/2:\d+ .*mode/),
  })
})
