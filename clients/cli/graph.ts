import type { Command } from 'commander'
import { addGraphCommands } from './graph-commands.ts'
import { type GraphOptions, withFormat } from './graph-format.ts'
import type { Session } from './session.ts'

export function addGraph(parent: Command, session: Session): void {
  const graph = parent.command('graph').description('draw a document, without a server; or the knowledge graph of one')
  addGraphCommands(graph.enablePositionalOptions(), session)
  withFormat(graph)
    .argument('<file>')
    .action(async (file: string, options: GraphOptions) => {
      const { drawDocument } = await import('./draw-document.ts')
      await drawDocument(session, file, options)
    })
}
