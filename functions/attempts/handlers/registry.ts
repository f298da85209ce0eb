import { HANDLERS, type HandlerName } from '../../../shared/dag/handlers.ts'
import { Fault } from '../../../shared/errors.ts'
import type { BlockHandler } from './block-handler.ts'
import { classifyTable } from './classify-table.ts'
import { http } from './http.ts'
import { moveTask } from './move-task.ts'
import { readInput } from './read-input.ts'
import { readTable } from './read-table.ts'
import { sendEvent } from './send-event.ts'
import { tableStats } from './table-stats.ts'
import { pass, transform } from './transform.ts'
import { verifyClaims } from './verify-claims.ts'
import { writeArtifact } from './write-artifact.ts'
import { writeFile } from './write-file.ts'
import { writeTable } from './write-table.ts'

/** A further handler: its schema in shared/dag/handlers.ts, its file here, a line here (the type demands it). */
const REGISTRY: Readonly<Record<HandlerName, BlockHandler>> = {
  pass,
  transform,
  'read-input': readInput,
  'write-artifact': writeArtifact,
  'read-table': readTable,
  'write-table': writeTable,
  http,
  'table-stats': tableStats,
  'classify-table': classifyTable,
  'builtin:write-file': writeFile,
  'move-task': moveTask,
  'send-event': sendEvent,
  'verify-claims': verifyClaims,
}

/** The code behind a handler's name; Fault InvalidInput unknown_handler (the parser refuses such a document first). */
export function findHandler(name: string): BlockHandler {
  if (Object.hasOwn(HANDLERS, name)) return REGISTRY[name as HandlerName]
  const message = `Cannot run handler "${name}": there is none of that name. There are ${Object.keys(HANDLERS).join(', ')}.`
  throw new Fault('InvalidInput', 'unknown_handler', message)
}
