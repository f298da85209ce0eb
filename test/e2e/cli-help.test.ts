import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMMAND_HELP } from '../../clients/cli/help/command-help.ts'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { WHOLE } from '../how-much.ts'
import { type ProjectFolder, projectFolder } from './project-folder.ts'

/** Every example of the help is run as it stands, but those that would go on, ask AWS, or talk a protocol. */
const GO_ON = /^(start|dev|console|mcp|deploy|destroy|rollout|logs)\b/
const EXAMPLES = Object.entries(COMMAND_HELP).flatMap(([command, { examples, exits = {} }]) =>
  examples.filter((line) => !GO_ON.test(line)).map((line) => [line, command, exits] as const),
)
/** What is refused of the run these examples name: it has ended, asks nothing, has no goal. */
const REFUSED =
  /^(research show|run (goal|approve|reject|waive|stop|pivot|artifact RUN greeting|diff|output|retry|bulk (start|cancel|show))|approvals (show|approve|reject)|graph (show|neighbors|delete))/

const TITLES = `data: { items: [{ id: plan, values: { title: Plan } }, { id: minutes, values: { title: Minutes } }] }
document: ../dags/hello.yaml
variants: [{ name: as-it-is }]
`

/** As `hello` of a new project, but for its own gate and step, for which a command starts programs: those are of the whole run. */
const PLAIN_HELLO = `name: hello
inputs: { title: { type: string, default: Outline } }
blocks:
  - id: read
    mode: deterministic
    deterministic: { handler: read-input, config: { path: notes.md } }
    outputs: { notes: string }
    post_gates: [{ name: has-text, check: { type: min_length, port: notes, min: 50 }, on_fail: fail }]
  - id: outline
    inputs: { title: string, notes: { from: read.notes } }
    outputs: { text: string }
    agent: { provider: local, model: outline, prompt: "{{inputs.title}}. Name every decision.\\n{{inputs.notes}}" }
    post_gates: [{ name: numbered, check: { type: matches, port: text, pattern: "^1\\\\. ", flags: m } }]
  - id: publish
    mode: deterministic
    inputs: { body: { from: outline.text } }
    outputs: { file: artifact }
    deterministic: { handler: write-artifact, config: { name: outline.md, media_type: text/markdown } }
`

const HELLO_TESTS = 'dag: hello\ncases: [{ name: an outline is made, expect: { status: completed } }]\n'

const PROMPTFOO = `prompts: ["Translate {{text}}"]
providers: [openai:gpt-4.1-mini]
tests: [{ vars: { text: Hello }, assert: [{ type: contains, value: Bonjour }, { type: javascript, value: "true" }] }]
`

let project: ProjectFolder
let place: Place
let run = ''
/** The run that examples erase. */
let forgotten = ''

beforeAll(async () => {
  project = await projectFolder()
  const { folder: project_dir } = project
  const settings = {
    data_dir: join(project_dir, 'data'),
    inputs_dir: join(project_dir, 'inputs'),
    port: 0,
    project_dir,
  }
  place = await openPlace(SettingsSchema.parse(settings), { listen: true })
  const started = await project.run('sluice run start --watch --json', { SLUICE_URL: place.url ?? '' })
  run = JSON.parse(started.out).run.run_id
  const other = await project.run('sluice run start --watch --json', { SLUICE_URL: place.url ?? '' })
  forgotten = JSON.parse(other.out).run.run_id
  write(
    'goal.yaml',
    'goal_text: Say its shape\nacceptance_criteria: [{ id: a, kind: marker_required, marker: SHAPE }]\n',
  )
  mkdirSync(join(project.folder, 'evals'), { recursive: true })
  write('evals/titles.yaml', TITLES)
  write('promptfooconfig.yaml', PROMPTFOO)
  mkdirSync(join(project.folder, 'tests'), { recursive: true })
  write('tests/hello.yaml', HELLO_TESTS)
  write('report.md', '[SHAPE] 10 rows\n')
  write('decisions.ndjson', '')
  write('payloads.ndjson', '')
  write('recording.json', '')
  write('ids.txt', 'acme.ops.geo.atlas.city.oslo\n')
  write('asked.ndjson', '{"question":"Where is Oslo?","relevant":["city.oslo"]}\n')
  write('entities.ndjson', '{"entity_id":"acme.ops.geo.atlas.city.oslo","label":"Oslo"}\n')
  mkdirSync(join(project.folder, 'handbook'), { recursive: true })
  write('handbook/index.md', '# The handbook\n')
  write('sample.json', '{"id":7}\n')
  write('states.json', '[{"id":"acme.ops.geo.atlas.city.bergen","triples":[]}]\n')
})
afterAll(async () => {
  await place.close()
  project.remove()
})

function write(path: string, text: string): void {
  writeFileSync(join(project.folder, path), text)
}

describe('an example of the help', () => {
  test.each(EXAMPLES)('works: sluice %s', async (line, _command, exits) => {
    // Without a name it is the only document: an example before this one wrote another.
    if (line === 'run start') rmSync(join(project.folder, 'dags', 'review.yaml'), { force: true })
    const filled = line
      .replaceAll(/\bRUN\b|\bOTHER\b/g, /^run (erase|erasure|hold)\b/.test(line) ? forgotten : run)
      .replaceAll(/\bAPPROVAL2?\b/g, `apr_${'0'.repeat(26)}_0_1`)
      .replaceAll('ENTITY', 'acme.ops.geo.atlas.city.oslo')
    const { code, err } = await project.run(`sluice ${filled}`, { SLUICE_URL: place.url ?? '' })
    if (line === 'init . --force' && !WHOLE) {
      write('dags/hello.yaml', PLAIN_HELLO)
      write('tests/hello.yaml', HELLO_TESTS)
    }
    expect(err).not.toMatch(/\[usage\]|which is a bug|error: (unknown|missing|too many)/)
    if (REFUSED.test(line)) expect([0, 1, 2, 3]).toContain(code)
    else expect([0, ...Object.keys(exits).map(Number)]).toContain(code)
  })
})

describe('who types something else', () => {
  test.each<[string, RegExp]>([
    ['sluice runn', /unknown command 'runn'\n?.*Did you mean run\?/s],
    ['sluice run strat', /unknown command 'strat'\n?.*Did you mean start\?/s],
    ['sluice run list --stauts failed', /unknown option '--stauts'\n?.*Did you mean --status\?/s],
    ['sluice run list --status faild', /Allowed choices are .*failed/],
    ['sluice run status', /missing required argument 'run-id'/],
    ['sluice validate no-such.yaml', /no such file/],
    ['sluice help run strat', /There is no command "run strat".*Did you mean "start"\?/],
    ['sluice run start no-such-example.yaml', /no such file/],
    ['sluice run start --example bassic', /Did you mean "basic"\?/],
    ['sluice run start helo --url http://127.0.0.1:9', /No Sluice server|nobody|answers/i],
  ])('%s is told what is allowed, with exit code 2', async (line, words) => {
    const { code, err } = await project.run(line)
    expect(err).toMatch(words)
    expect(code).toBe(/--url/.test(line) ? 1 : 2)
  })

  test('an unknown run is told as one, with where to look', async () => {
    const { code, err } = await project.run(`sluice run status run_${'0'.repeat(26)}`, { SLUICE_URL: place.url ?? '' })
    expect([code, err]).toEqual([1, expect.stringMatching(/run_0+.*\[/s)])
  })

  test('nothing at all shows the commands; so does a group', async () => {
    const bare = await project.run('sluice')
    expect(bare.out + bare.err).toMatch(/Commands:\n/)
    const group = await project.run('sluice run')
    expect(group.out + group.err).toMatch(/Usage: sluice run/)
  })
})
