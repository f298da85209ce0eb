import type { PortType } from '../../../shared/dag/dag.ts'
import { Fault } from '../../../shared/errors.ts'
import { inexactNumbers, inexactNumberWords } from '../../../shared/text/inexact-numbers.ts'
import type { Json } from '../../../shared/text/json.ts'
import { jsonTextProblem } from '../../../shared/text/json-limits.ts'
import { type BlockHandler, type HandlerCall, handlerFault, readConfig } from './block-handler.ts'
import { readObjectRef } from './store-artifact.ts'

/**
 * Reads the object ref in input `file`, else config `path` (the Inputs port: below inputs_dir), into the one output:
 * string = UTF-8 text, json = parsed, file and artifact = the ref of the stored bytes.
 */
export const readInput: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { path } = readConfig('read-input', call)
    const [port, ...others] = Object.entries(call.outputs)
    if (port === undefined || others.length > 0) {
      throw refused(
        call,
        'input_ports',
        `it has ${others.length === 0 ? 'no output' : 'several outputs'}, one is needed.`,
      )
    }
    const [name, { type }] = port
    return { [name]: await valueFor(call, type, await bytesOf(call, path)) }
  },
}

async function bytesOf(call: HandlerCall, path: string | undefined): Promise<Uint8Array> {
  const file = call.inputs.file
  if (file === undefined) {
    if (path !== undefined) return readPath(call, path)
    throw refused(call, 'input_source', 'it has neither config "path" nor an input "file". Name the file to read.')
  }
  const bytes = await readObjectRef(call, file)
  if (bytes !== undefined) return bytes
  throw refused(
    call,
    'input_source',
    'input "file" is no object ref (objstore://tenant/sha256). Wire it from an output of type file or artifact.',
  )
}

async function readPath(call: HandlerCall, path: string): Promise<Uint8Array> {
  try {
    return await call.world.inputs.read(call.run.tenant, path)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const message = `Cannot run block "${call.block_id}" (read-input): ${error.message}`
    throw new Fault(error.name, error.code, message, { facts: error.facts, status: error.status, cause: error })
  }
}

async function valueFor(call: HandlerCall, type: PortType, bytes: Uint8Array): Promise<Json> {
  switch (type) {
    case 'string':
      return textOf(call, bytes)
    case 'json':
      return jsonOf(call, textOf(call, bytes))
    case 'file':
    case 'artifact':
      return (await call.world.objects.put(call.run.tenant, bytes)).ref
    case 'number':
    case 'boolean':
      throw refused(call, 'input_ports', `its output is a ${type}; allowed are string, json, file, artifact.`)
  }
}

function textOf(call: HandlerCall, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    const what = `the file's ${bytes.byteLength} bytes are not UTF-8 text. Save it as UTF-8, or make the output a file.`
    throw refused(call, 'input_not_text', what, cause)
  }
}

function jsonOf(call: HandlerCall, text: string): Json {
  const problem = jsonTextProblem(text)
  if (problem !== undefined)
    throw refused(
      call,
      problem.code,
      `the file is not parsed, since ${problem.text}. Make the output a string or a file.`,
    )
  const [changed] = inexactNumbers(text)
  if (changed !== undefined)
    throw refused(call, 'number_inexact', `the file holds what JSON cannot: ${inexactNumberWords(changed)}.`)
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    const what = `the file is not JSON: ${(cause as Error).message}. Mend the file, or make the output a string.`
    throw refused(call, 'input_not_json', what, cause)
  }
}

function refused(call: HandlerCall, code: string, what: string, cause?: unknown): Fault {
  return handlerFault(call, 'read-input', code, what, cause)
}
