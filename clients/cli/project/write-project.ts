import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import about from '../../../package.json' with { type: 'json' }
import { casesSchema } from '../../../shared/cases/case-file.ts'
import { documentSchema } from '../../../shared/document/json-schema.ts'
import { evalJsonSchema } from '../../../shared/evals/eval-file.ts'
import { settingsSchema } from '../../../shared/settings/json-schema.ts'
import { readFileIfAny, writeNewFile } from '../terminal/files.ts'
import { Refused } from '../terminal/refused.ts'
import { quotedWord, type Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'

export interface InitOptions {
  readonly force?: true
  readonly json?: true
}

/**
 * Writes a project; what is there already stays, unless it is to be written over. A package.json is never written over: an
 * install has made it.
 */
export function writeProject(session: Session, folder: string, { force: forced, json }: InitOptions): void {
  const force = forced === true
  const all = projectFiles(basename(resolve(folder)), dependencyIn(folder))
  const files = new Map([...all].filter(([path]) => path !== PACKAGE || !existsSync(join(folder, PACKAGE))))
  const there = [...files.keys()].filter((path) => existsSync(join(folder, path)))
  if (there.length > 0 && !force) throw projectThere(folder, there)
  for (const [path, text] of files) writeNewFile(join(folder, path), text, force)
  const written = [...files.keys()]
  if (json === true) session.say(jsonText({ folder, written, replaced: there }, 2))
  else sayWritten(session, folder, written, there)
}

function sayWritten(session: Session, folder: string, written: readonly string[], there: readonly string[]): void {
  const command = commandIn(folder, session)
  const go = relative(process.cwd(), resolve(folder))
  const lines = [
    `Wrote ${written.length} files in ${folder === '.' ? 'this folder' : folder}:`,
    ...written.map((path) => `  ${path}${there.includes(path) ? '  (written over)' : ''}`),
    'Next:',
    ...(go === '' ? [] : [`  cd ${go}`]),
    `  ${command} validate     checks settings, document, step and gate`,
    `  ${command} run start    runs dags/hello.yaml right here, offline`,
    `  ${command} test         plays the cases of tests/hello.yaml`,
    `  ${command} start        serves API and console on 127.0.0.1:4040`,
  ]
  for (const line of lines) session.say(plainText(line))
}

function projectThere(folder: string, there: readonly string[]): Refused {
  const where = folder === '.' ? 'this folder' : `"${folder}"`
  const detail = `Cannot write a project to ${where}: ${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} there already. Name another folder, or say --force to write over exactly these. Nothing was written.`
  return new Refused({ code: 'file_there', detail })
}

/** A clone is started by npm, which in a project with a package.json has to be told where the clone is. */
function commandIn(folder: string, { settings: { command } }: Session): string {
  const isPlain = command === 'npm run -s sluice --' && resolve(folder) !== resolve(ROOT)
  return isPlain ? command.replace('-s', `-s --prefix ${quotedWord(resolve(ROOT))}`) : command
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PACKAGE = 'package.json'

/**
 * What a package.json of the folder asks for to have this very package: as the nearest one above it does, else by version.
 * `file:../sluice.tgz` is written as seen from the folder.
 */
function dependencyIn(folder: string): string {
  for (let at = dirname(resolve(folder)); ; at = dirname(at)) {
    const spec = specIn(readFileIfAny(join(at, PACKAGE), 'package.json'))
    if (spec !== undefined) return spec.startsWith('file:') ? `file:${fromFolder(folder, at, spec.slice(5))}` : spec
    if (at === dirname(at)) return `^${about.version}`
  }
}

function fromFolder(folder: string, at: string, path: string): string {
  return isAbsolute(path) ? path : relative(resolve(folder), join(at, path)).replaceAll('\\', '/')
}

function specIn(text: string | undefined): string | undefined {
  const read = PackageSchema.safeParse(jsonOf(text))
  return read.data?.dependencies?.sluice ?? read.data?.devDependencies?.sluice
}

function jsonOf(text = 'null'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const NamedSchema = z.record(z.string(), z.string()).optional()
const PackageSchema = z.looseObject({ dependencies: NamedSchema, devDependencies: NamedSchema })

/** Every file of a new project with its text, by its path there. */
export function projectFiles(name: string, dependency = `^${about.version}`): ReadonlyMap<string, string> {
  return new Map([
    [PACKAGE, packageOf(name, dependency)],
    ['sluice.yaml', SETTINGS_FILE],
    ['dags/hello.yaml', HELLO_DAG],
    ['steps/decisions.ts', STEP],
    ['gates/invents-nothing.ts', GATE],
    ['inputs/notes.md', NOTES],
    ['checks/gates.ndjson', GATE_CHECKS],
    ['tests/hello.yaml', CASES],
    ['evals/hello.yaml', EVALUATION],
    ['schemas/dag.schema.json', text(documentSchema())],
    ['schemas/sluice.schema.json', text(settingsSchema())],
    ['schemas/tests.schema.json', text(casesSchema())],
    ['schemas/eval.schema.json', text(evalJsonSchema())],
    ['.github/workflows/sluice.yml', WORKFLOW],
    ['tsconfig.json', TSCONFIG],
    ['.gitignore', GITIGNORE],
    ['README.md', readmeOf(name)],
  ])
}

/** On one line: editors read it, people do not. */
function text(schema: object): string {
  return `${JSON.stringify(schema)}\n`
}

/** package.json of a new project. npm allows fewer names than folders have. */
function packageOf(name: string, dependency: string): string {
  const words = name.toLowerCase().replace(/[^a-z0-9._-]+/g, '-')
  const about = {
    name: words.replace(/^[._-]+/, '').slice(0, 200) || 'project',
    private: true,
    type: 'module',
    scripts: { validate: 'sluice validate', test: 'sluice test', start: 'sluice start' },
    devDependencies: { sluice: dependency },
  }
  return `${JSON.stringify(about, null, 2)}\n`
}

/** steps/decisions.ts of a new project. */
const STEP = `import { defineStep } from 'sluice'
import * as z from 'zod'

/** Your own code in a block: dags/hello.yaml names it as a handler. Its schemas are the types of the block's ports. */
export default defineStep({
  inputs: z.object({ text: z.string() }),
  outputs: z.object({ decisions: z.array(z.string()), count: z.number() }),
  run({ inputs, log }) {
    const lines = inputs.text.split('\\n').flatMap((line) => /Decision: (.*)/.exec(line)?.[1] ?? [])
    log.info(\`\${lines.length} decisions\`)
    return { decisions: lines, count: lines.length }
  },
})
`

/** gates/invents-nothing.ts of a new project. */
const GATE = `import { defineGate } from 'sluice'
import * as z from 'zod'

/** A gate of your own: what one port says after a word must stand in another. Pure: no clock, no network, no files. */
export default defineGate({
  params: z.strictObject({ port: z.string(), of: z.string(), word: z.string() }),
  reads: ({ port, of }) => [port, of],
  check({ params, port }) {
    const source = String(port(params.of))
    const lines = String(port(params.port)).split('\\n').filter((line) => line.includes(params.word))
    const said = lines.map((line) => line.slice(line.indexOf(params.word)).trim())
    const invented = said.filter((line) => !source.includes(line))
    if (invented.length > 0) return { passed: false, reason: \`nobody said "\${invented[0]}"\`, evidence: invented }
    return { passed: true, reason: \`\${said.length} lines with "\${params.word}", each of them said\` }
  },
})
`

/** tsconfig.json of a new project: what the editor checks steps and gates by. Nothing has to be compiled. */
const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true,
    "allowImportingTsExtensions": true
  },
  "include": ["steps", "gates"]
}
`

/** dags/hello.yaml of a new project: real work that needs no key and no network. */
const HELLO_DAG = `# yaml-language-server: $schema=../schemas/dag.schema.json
# Notes in, outline out: read a file -> outline it -> gates -> list its decisions -> keep it as an artifact. Provider \`local\` is text tools,
# no model: it runs offline and costs nothing. Run it with \`sluice run start\`.
name: hello
version: "1"
inputs:
  title: { type: string, default: Outline, description: What stands above the outline }

blocks:
  - id: read
    name: Read the notes
    mode: deterministic
    # Below inputs_dir of sluice.yaml.
    deterministic: { handler: read-input, config: { path: notes.md } }
    outputs:
      notes: { type: string }
    post_gates:
      - name: has-text
        check: { type: min_length, port: notes, min: 50 }
        error: inputs/notes.md has nothing to outline
        on_fail: fail

  - id: outline
    name: Outline what they say
    inputs:
      title: string
      notes: { from: read.notes }
    outputs:
      text: { type: string }
    agent:
      provider: local
      model: outline
      # To let a model do it, name a provider of sluice.yaml here, and a model it has.
      prompt: "{{inputs.title}}. Name every decision and every open question of these notes.\\n{{inputs.notes}}"
    # Another try is told what a gate refused, three tries at most.
    retry: { max_attempts: 3, delay_ms: 100 }
    post_gates:
      - name: long-enough
        check: { type: min_length, port: text, min: 200 }
        error: The outline leaves too much out
      - name: numbered
        check: { type: matches, port: text, pattern: "^1\\\\. ", flags: m }
        error: An outline is a numbered list
      - name: names-the-decision
        check: { type: matches, port: text, pattern: "Decision: \\\\w+" }
        error: The outline must name what was decided
      # A gate of this project: gates/invents-nothing.ts.
      - name: invents-nothing
        check: { type: ./gates/invents-nothing.ts, port: text, of: notes, word: "Decision:" }
        error: The outline names a decision that the notes do not have

  - id: decisions
    name: List the decisions
    mode: deterministic
    inputs:
      text: { from: outline.text }
    # A step of this project: steps/decisions.ts. Its ports are those of its schemas: decisions and count.
    deterministic: { handler: ./steps/decisions.ts }
    post_gates:
      - name: some
        check: { type: range, port: count, min: 1 }
        error: A meeting without a decision needs no outline

  - id: publish
    name: Keep the outline
    mode: deterministic
    inputs:
      body: { from: outline.text }
    # An outline without a decision is not kept.
    depends: decisions.succeeded
    outputs:
      file: { type: artifact }
    deterministic: { handler: write-artifact, config: { name: outline.md, media_type: text/markdown } }
    # A person agrees before this block runs, as soon as you take the # away; \`sluice run approve RUN\` then.
    # approval: { prompt: "Publish this outline?", show: [body] }
`

/** tests/hello.yaml of a new project. */
const CASES = `# yaml-language-server: $schema=../schemas/tests.schema.json
# Cases of dags/hello.yaml: \`sluice test\` plays them offline. Steps and gates run as they are; where the second has a script,
# it stands in for what would write the outline.
dag: hello
cases:
  - name: an outline that names its decisions is kept
    expect:
      status: completed
      gates: { outline.names-the-decision: passed, outline.invents-nothing: passed }
      outputs: { decisions.count: { gates: [{ type: range, min: 1 }] } }
      artifacts: { outline.md: { contains: "Decision:" } }

  - name: one that leaves them out is refused three times, and nothing is kept
    models:
      local: "1. They met, and spoke of files and of messages for a while."
    expect:
      status: failed
      attempts: { outline: 3 }
      gates: { outline.names-the-decision: failed }
    must_not: { start: [publish] }
`

/** evals/hello.yaml of a new project. */
const EVALUATION = `# yaml-language-server: $schema=../schemas/eval.schema.json
# Two ways to ask for the outline, side by side: \`sluice eval run evals/hello.yaml\`. Provider \`local\` is text tools, no
# model; name models in \`set\` to compare those.
description: Whether an outline names what was decided
data:
  items:
    - { id: plain, values: { title: Outline } }
    - { id: long, values: { title: What was decided at the release meeting, and what is open } }
document: ../dags/hello.yaml
variants:
  - name: as-it-is
  - name: one-try
    set: { outline.retry.max_attempts: 1 }
expect:
  - { name: names-the-decision, block: outline, check: { type: contains, port: text, values: ["Decision:"] } }
thresholds:
  - { measure: expect, name: names-the-decision, min: 1 }
`

/** inputs/notes.md of a new project. */
const NOTES = `# Release meeting

Present: Ana, Ben, Chidi. 40 minutes.

## Import of customer files

Ben measured the import of 12,000 customer files: 31 minutes, of which 22 are spent waiting for the disk.
Reading ahead by four files brings it to 14 minutes on the same machine.
Decision: reading ahead goes into release 2.4, with four files as the default.

## Error messages

Support counted 57 questions in October that one sentence would have answered.
Decision: every refusal names the file, the line and what is allowed.
Chidi writes the list of messages until 5 December.

## Open questions

- Does reading ahead help on network drives? Ana tests it on the shared volume.
- Who translates the new messages? The budget allows 1,500 words.
`

/** sluice.yaml of a new project: what is set stands there, what is usual is shown. */
export const SETTINGS_FILE = `# yaml-language-server: $schema=schemas/sluice.schema.json
# Settings of this project. Everything may be left out; \`sluice validate\` checks this file and every dags/*.yaml.
version: 1

# Where \`sluice start\` answers, on 127.0.0.1 only.
port: 4040
# Runs, events and objects. Keep it out of version control.
data_dir: .sluice
# Folders of documents, and the one folder that runs may read files from.
dags: [dags]
inputs_dir: inputs

# Models. Provider \`local\` (text tools, no model) is always there. A key is named here and never written here.
# providers:
#   ollama: { type: ollama, url: "http://127.0.0.1:11434" }
#   openai: { type: openai-compatible, url: "https://api.openai.com/v1", key: { env: OPENAI_API_KEY } }

# Agents that blocks find by role or capability instead of naming provider and model.
agents:
  writer: { role: worker, provider: local, model: outline, capabilities: [writing] }

# Caps of every run; \`sluice run start\` is refused above max_runs, a run is cancelled above max_run_sec.
safety:
  max_runs: 5
  max_run_sec: 86400
  max_attempts: 3
  # max_run_usd: 2.5
`

/** .github/workflows/sluice.yml of a new project. */
const WORKFLOW = `# Checks documents, steps and gates, then runs the DAG offline. It needs the package-lock.json that \`npm install\` writes.
name: sluice
on: [push, pull_request]
permissions: { contents: read }
jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24 }
      - run: npm ci --ignore-scripts
      # --no: the sluice of package.json, never a package of that name from a registry.
      - run: npx --no sluice validate
      # Each line of checks/gates.ndjson begins its id with the verdict it must get.
      - run: npx --no sluice gates check --ndjson < checks/gates.ndjson > verdicts.ndjson
      - run: jq -es 'all(.[]; . as $v | $v.id | startswith($v.status))' verdicts.ndjson
      - run: npx --no sluice test
      - run: npx --no sluice eval run evals/hello.yaml
      - run: npx --no sluice run start --yes
`

/** checks/gates.ndjson of a new project: what the gates of hello.yaml say of texts whose verdict is known. */
const GATE_CHECKS = [
  line('passed: a numbered list', { type: 'matches', port: 'text', pattern: '^1\\. ', flags: 'm' }, '1. Read ahead'),
  line('failed: prose', { type: 'matches', port: 'text', pattern: '^1\\. ', flags: 'm' }, 'We read ahead.'),
  line('passed: the decision is named', { type: 'matches', port: 'text', pattern: 'Decision: \\w+' }, 'Decision: yes'),
  line('failed: no decision', { type: 'matches', port: 'text', pattern: 'Decision: \\w+' }, 'They talked.'),
].join('')

function line(id: string, check: object, text: string): string {
  return `${JSON.stringify({ id, check, inputs: {}, outputs: { text } })}\n`
}

/** .gitignore of a new project. */
const GITIGNORE = `.sluice/
node_modules/
evals/results/
verdicts.ndjson
.env
`

/** README.md of a new project. */
function readmeOf(name: string): string {
  return `# ${name}

| file | what it is |
| --- | --- |
| \`dags/hello.yaml\` | a DAG: read \`inputs/notes.md\`, outline it, check the outline, list its decisions, keep it |
| \`steps/decisions.ts\` | code of this project in a block: its schemas are the types of the block's ports |
| \`gates/invents-nothing.ts\` | a gate of this project |
| \`tests/hello.yaml\` | cases of the DAG: \`sluice test\` |
| \`evals/hello.yaml\` | two variants of it, compared: \`sluice eval run evals/hello.yaml\` |
| \`sluice.yaml\` | settings: folders, providers, agents, caps |
| \`inputs/\` | the only folder runs may read files from |
| \`schemas/\` | JSON Schemas for the editor; \`sluice init . --force\` writes them anew after an update |
| \`checks/gates.ndjson\` | what the gates must say of texts that are known |
| \`.github/workflows/sluice.yml\` | checks all of it on every push |

\`\`\`
sluice run start
sluice test
sluice start
\`\`\`

The first runs the only DAG of the project right here, offline, and says where the outline is. The second plays its cases. The third serves API and
console on 127.0.0.1:4040; runs started while it is there are seen in the console, and go on after a restart.

- \`sluice validate\` checks every document, \`sluice plan dags/hello.yaml\` says what a run will do.
- \`sluice new dag NAME\` writes another document, \`sluice new gate NAME --type TYPE\` a gate to paste.
- \`sluice doctor\` says what is missing on this machine.
- \`package.json\` names the package: \`npm install\` gets it for this folder, and writes the package-lock.json that CI installs
  by. Where it comes from a file, \`npm install --save-dev FILE\` names that.
`
}
