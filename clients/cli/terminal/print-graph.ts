import { type Command, Option } from 'commander'
import { drawDot, drawMermaid, drawSvg } from '../../../shared/plan/draw.ts'
import type { DagGraph } from '../../../shared/plan/graph-schema.ts'
import type { Session } from './session.ts'
import { jsonText } from './text.ts'

const FORMATS: Readonly<Record<string, (graph: DagGraph) => string>> = {
  mermaid: drawMermaid,
  dot: drawDot,
  svg: drawSvg,
  json: (graph) => `${jsonText(graph, 2)}\n`,
}

export interface GraphOptions {
  readonly format: string
  readonly json?: true
}

export function withFormatOption(command: Command): Command {
  return command
    .addOption(new Option('--format <format>', 'what to print').choices(Object.keys(FORMATS)).default('mermaid'))
    .option('--json', 'the same as --format json')
}

export async function sayGraph(session: Session, graph: DagGraph, { format, json }: GraphOptions): Promise<void> {
  await session.write(FORMATS[json === true ? 'json' : format]?.(graph) ?? '')
}
