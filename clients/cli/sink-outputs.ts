import type { Target } from './api.ts'
import type { RunAnswer } from './fetch-run.ts'
import { fetchOutputs, textLines } from './outputs.ts'
import { cut, plainText } from './plain-text.ts'
import { Refused } from './refused.ts'
import { count } from './words.ts'

/** Blocks with outputs that nobody waits for: what the run was made for. */
export function sinkBlocks({ dag: { blocks } }: RunAnswer): readonly RunAnswer['dag']['blocks'][number][] {
  const waitedFor = new Set(blocks.flatMap(({ upstream }) => upstream))
  return blocks.filter(({ id, outputs }) => !waitedFor.has(id) && Object.keys(outputs).length > 0)
}

/** What the run's sink blocks wrote as text, for the end of a watched run: `more` is the command that shows all. */
export async function sinkTexts(
  target: Target,
  answer: RunAnswer,
  more: (blockId: string) => string,
): Promise<readonly string[]> {
  const done = sinkBlocks(answer).filter(({ id, mode }) => mode !== 'approval' && isDone(answer, id))
  const texts = done.map(async ({ id, outputs: ports }) => {
    const found = await fetchOutputs(target, answer.run.run_id, id).catch(noneToShow)
    const isText = (port: string) => ports[port]?.type === 'string'
    return Object.entries(found?.outputs ?? {}).flatMap(([port, value]) =>
      isText(port) ? [`--- ${id}.${port}`, ...shortened(textLines(value), more(id))].map(plainText) : [],
    )
  })
  return (await Promise.all(texts)).flat()
}

const MAX_LINES = 40
const MAX_COLUMNS = 1_000

function isDone({ blocks }: RunAnswer, id: string): boolean {
  return blocks[id]?.state === 'completed'
}

/** The run is over and told: that a server cannot show its values any more is no failure of it. */
function noneToShow(error: unknown): undefined {
  if (!(error instanceof Refused)) throw error
}

function shortened(lines: readonly string[], more: string): readonly string[] {
  const rest = lines.length - MAX_LINES
  const first = lines.slice(0, MAX_LINES).map((line) => cut(line, MAX_COLUMNS))
  const isCut = rest > 0 || first.some((line, at) => line !== lines[at])
  return isCut ? [...first, `… ${rest > 0 ? `${count(rest, 'more line')}` : 'cut'}: ${more}`] : first
}
