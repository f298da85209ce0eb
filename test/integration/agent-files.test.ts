import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Provider } from '../../shared/providers/provider.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

const PAGE = '<!doctype html><title>Snake</title><canvas id="game"></canvas>'

/** A model as they are: it writes text, and knows no object refs. It keeps the prompts it was given. */
const prompts: string[] = []
const answers: string[] = []
const model: Provider = {
  async dispatch({ prompt }) {
    prompts.push(prompt)
    const text = answers.shift() ?? 'nothing is left to say'
    return { text, tokens_in: 1, tokens_out: 1, usd: 0, model: 'any', finish_reason: 'stop' }
  },
}

let place: TestPlace
beforeAll(async () => {
  place = await openTestPlace({ providers: { model } })
})
afterAll(() => place.close())

const agent = { provider: 'model', model: 'any' }

async function run(blocks: readonly object[], ...said: readonly string[]) {
  prompts.length = 0
  answers.splice(0, answers.length, ...said)
  const id = await place.start({ blocks })
  const events = await place.ended(id)
  const { json } = await place.call('list-artifacts', id)
  return { id, events, last: events.at(-1), artifacts: (json as { artifacts?: readonly object[] }).artifacts }
}

const build = {
  id: 'build',
  outputs: { artifact_html: { type: 'artifact' }, changelog: { type: 'string' }, branch: { type: 'string' } },
  agent,
  post_gates: [{ name: 'is-page', check: { type: 'port_matches', port: 'artifact_html', pattern: '<canvas' } }],
}

describe('an agent with file and artifact outputs', () => {
  test('fills several ports with a JSON object of texts: the text is an artifact, and its gates see the text', async () => {
    const text = JSON.stringify({ artifact_html: PAGE, changelog: 'a snake', branch: 'feature/snake' })
    const { last, artifacts } = await run([build], text)
    expect(last?.type).toBe('run:completed')
    expect(artifacts).toMatchObject([
      { name: 'build/artifact_html.html', media_type: 'text/html; charset=utf-8', bytes: PAGE.length },
    ])
  })

  test('fills one port with the raw text', async () => {
    const one = { ...build, outputs: { artifact_html: 'artifact' } }
    const { last, artifacts } = await run([one], PAGE)
    expect(last?.type).toBe('run:completed')
    expect(artifacts).toMatchObject([{ name: 'build/artifact_html.html', bytes: PAGE.length }])
  })

  test('an object as the value of a port is stored as JSON', async () => {
    const plan = { id: 'plan', outputs: { plan: 'file', title: 'string' }, agent }
    const { last, artifacts } = await run([plan], JSON.stringify({ plan: { steps: [1] }, title: 't' }))
    expect(last?.type).toBe('run:completed')
    expect(artifacts).toMatchObject([{ name: 'plan/plan.json', media_type: 'application/json' }])
  })

  test('the next agent reads the text, the port keeps the ref', async () => {
    const made = { ...build, outputs: { artifact_html: 'artifact' } }
    const qa = {
      id: 'qa',
      inputs: { page: { from: 'build.artifact_html' } },
      outputs: { verdict: 'string' },
      agent: { ...agent, prompt: 'Judge {{inputs.page}}' },
      pre_gates: [
        { name: 'seen', check: { type: 'contains', port: 'page', values: ['Snake'] } },
        { name: 'kept', check: { type: 'artifact_exists', port: 'page' } },
        { name: 'ref', check: { type: 'port_type', port: 'page', expected: 'artifact' } },
      ],
    }
    const { last } = await run([made, qa], PAGE, 'good')
    expect(last?.type).toBe('run:completed')
    expect(prompts[1]).toBe(`Judge ${PAGE}`)
  })

  test('what looks like a ref is text: no model knows one', async () => {
    const one = { id: 'build', outputs: { page: 'artifact' }, agent }
    const made_up = `objstore://main/${'0'.repeat(64)}`
    const { last, artifacts } = await run([one], made_up)
    expect(last?.type).toBe('run:completed')
    expect(artifacts).toMatchObject([{ name: 'build/page.txt', bytes: made_up.length }])
  })

  test('a port that is not filled is named', async () => {
    const { events } = await run([{ ...build, retry: { max_attempts: 1 } }], '{"changelog": "x", "branch": "y"}')
    const failed = events.flatMap((event) => (event.type === 'block:failed' ? [event.data.reason] : []))
    expect(failed).toEqual([expect.stringContaining('missing port artifact_html')])
  })

  test('the prompt asks for the text', async () => {
    await run([{ ...build, post_gates: [] }], '{"artifact_html": "p", "changelog": "x", "branch": "y"}')
    expect(prompts[0]).toContain('- artifact_html (artifact: its whole text)')
  })

  test('verify finds nothing to say about such a run', async () => {
    const { id } = await run([build], JSON.stringify({ artifact_html: PAGE, changelog: 'a', branch: 'b' }))
    const { json } = await place.call('verify-run', id)
    expect(json).toMatchObject({ ok: true })
  })

  test('builtin:write-file keeps it under a stamped path: the path for text ports, the ref for files', async () => {
    const save = {
      id: 'save',
      mode: 'deterministic',
      inputs: { page: { from: 'build.artifact_html' } },
      outputs: { file_path: 'string', saved: 'string', copy: 'artifact' },
      deterministic: {
        handler: 'builtin:write-file',
        config: {
          content_from: 'page',
          default_path_template: './out/p-{timestamp}.html',
          timestamp_format: 'YYYY-MM-DD',
          mkdir: true,
        },
      },
      post_gates: ['file_path', 'saved'].map((port) => ({
        name: port,
        check: { type: 'port_matches', port, pattern: '^out/p-[0-9]{4}-[0-9]{2}-[0-9]{2}\\.html$' },
      })),
    }
    const { last, artifacts } = await run([{ ...build, outputs: { artifact_html: 'artifact' } }, save], PAGE)
    expect(last?.type).toBe('run:completed')
    expect(artifacts).toMatchObject([{ bytes: PAGE.length }, { bytes: PAGE.length }])
  })
})
