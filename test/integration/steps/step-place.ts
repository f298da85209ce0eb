import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { PlaceOptions } from '../../../infra/local/place.ts'
import type { EventType, RunEvent } from '../../../shared/runs/event.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** A place whose project lies in a folder of its own, outside of the repository. */
export interface StepPlace extends TestPlace {
  readonly project: string
  /** Writes a file of the project. */
  write(path: string, text: string): void
  /** Resolves when the file is there: steps leave them to say where they are. Answers its text. */
  left(name: string): Promise<string>
  /** Where steps leave them: the environment variable OUT of every step of `settings`. */
  readonly out: string
}

type Files = Readonly<Record<string, string>>

/** `steps` of the settings may be given; each step of `files` finds its folder for signs in OUT. */
export async function openStepPlace(
  files: Files,
  settings: { readonly steps?: Readonly<Record<string, object>>; readonly [key: string]: unknown } = {},
  options: PlaceOptions = {},
): Promise<StepPlace> {
  const project = mkdtempSync(join(tmpdir(), 'sluice-project-'))
  const out = join(project, 'out')
  mkdirSync(out)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const named = Object.keys(files).filter((path) => path.startsWith('steps/'))
  const given = settings.steps ?? {}
  const steps = Object.fromEntries(
    named.map((path) => {
      const own = (given[`./${path}`] ?? {}) as { readonly env?: object }
      return [`./${path}`, { ...own, env: { OUT: out, ...own.env } }]
    }),
  )
  const place = await openTestPlace(options, { ...settings, project_dir: project, steps: { ...given, ...steps } })
  const closed = place.close.bind(place)
  // The place changes when it is killed: what it is now is asked of it each time.
  return Object.create(place, {
    project: { value: project },
    out: { value: out },
    write: { value: write },
    left: { value: (name: string) => until(() => readOr(join(out, name))) },
    close: {
      value: async () => {
        await closed()
        rmSync(project, { recursive: true, force: true })
      },
    },
  }) as StepPlace
}

function readOr(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** What is waited for may take its time, but not for ever. */
async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const late = Date.now() + 60_000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (Date.now() > late) throw new Error('what was waited for did not come')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A module that is a step: `run` is the text of its function. */
export function module(
  run: string,
  {
    inputs = '',
    outputs = 'text: z.string()',
    more = '',
    before = '',
  }: { readonly inputs?: string; readonly outputs?: string; readonly more?: string; readonly before?: string } = {},
): string {
  return `import { writeFileSync, existsSync, appendFileSync, readFileSync } from 'node:fs'
import { defineStep, Fail, file, Retry } from 'sluice'
import { z } from 'zod'
const OUT = process.env.OUT
const never = () => new Promise((resolve) => setTimeout(resolve, 1_000_000))
${before}
export default defineStep({
  inputs: z.object({ ${inputs} }),
  outputs: z.object({ ${outputs} }),
  ${more}
  async run(call) { ${run} },
})
`
}

/** A block whose work is `handler`. */
export function stepBlock(id: string, handler: string, more: object = {}, config?: object): object {
  return { id, mode: 'deterministic', deterministic: { handler, ...(config === undefined ? {} : { config }) }, ...more }
}

export const all = <T extends EventType>(events: readonly RunEvent[], type: T) =>
  events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)

/** Processes of this machine of which /proc says so. */
function processesWith(file: 'environ' | 'cmdline', words: string): readonly string[] {
  return readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && readOr(`/proc/${name}/${file}`)?.includes(words) === true,
  )
}

/** Resolves when no process of a step of this place is left. */
export async function noneLeft(place: StepPlace): Promise<void> {
  await until(() => (processesWith('environ', `OUT=${place.out}`).length === 0 ? true : undefined))
}

/** Resolves when no process is left that was started with this word. */
export async function noneCalled(word: string): Promise<void> {
  await until(() => (processesWith('cmdline', word).length === 0 ? true : undefined))
}
