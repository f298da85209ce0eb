import type { Json } from '../canonical.ts'
import { HANDLERS } from '../handlers.ts'
import { checkProgram } from './check-program.ts'
import { readSection } from './read-section.ts'
import type { Mapping, Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted } from './wording.ts'

/** The handler of a deterministic block and its config, as the handler's own schema has it. */
export function readHandler(
  reading: Reading,
  given: Json,
  path: Path,
): { readonly mode: 'deterministic'; readonly handler: string; readonly config: Mapping } | undefined {
  const section = readSection(reading, SECTIONS.deterministic, given, path)
  if (section?.handler === undefined) return undefined
  const known = Object.entries(HANDLERS).find(([name]) => name === section.handler)
  if (known === undefined) {
    refuseHandler(reading, section.handler, [...path, 'handler'])
    return undefined
  }
  const [handler, schema] = known
  const config = readSection(reading, schema, section.config ?? {}, [...path, 'config'])
  if (config !== undefined && 'expression' in config && config.expression !== undefined) {
    checkProgram(reading, config.expression, [...path, 'config', 'expression'])
  }
  // The schemas of handlers accept JSON only.
  return config === undefined ? undefined : { mode: 'deterministic', handler, config: config as Mapping }
}

function refuseHandler({ problems }: Reading, handler: string, path: Path): void {
  const say: Problem['say'] = ({ who }) => {
    const names = Object.keys(HANDLERS)
    const near = suggest(handler, names)
    const text = `${who} uses the unknown handler ${quoted(handler)}; known are ${listed(names)}`
    const ours = Object.hasOwn(ELSEWHERE, handler) ? ELSEWHERE[handler] : undefined
    return { text, hint: ours ?? didYouMean(near) }
  }
  problems.push({ code: 'unknown_handler', path, say })
}

/** Handlers of other systems that work on paths and URLs of their own choice, and what does their work here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'builtin:read-file': 'Use read-input: it reads below the inputs folder.',
  'builtin:transform': 'Use transform with a JSONata expression, or pass.',
  'builtin:http-request': 'No handler sends requests; give the answer as an input.',
}
