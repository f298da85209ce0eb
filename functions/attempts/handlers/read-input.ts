import type { PortType } from '../../../shared/dag/dag.ts'
import { renderTemplate, templateReferences } from '../../../shared/dag/template.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Json } from '../../../shared/text/json.ts'
import { inexactNumbers, inexactNumberWords, jsonTextProblem } from '../../../shared/text/strict-json.ts'
import { type BlockHandler, type HandlerCall, handlerFault, readConfig } from './block-handler.ts'
import { readObjectRef } from './store-artifact.ts'

/**
 * Reads the object ref in input `file`, else config `path` (the Inputs port: below inputs_dir), into the one output:
 * string = UTF-8 text, json = parsed, file and artifact = the ref of the stored bytes. `path` is a template over the
 * inputs.
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
  const bytes = await readFileInput(call, 'read-input', path)
  if (bytes !== undefined) return bytes
  if (path !== undefined) return readPath(call, 'read-input', path)
  throw refused(call, 'input_source', 'it has neither config "path" nor an input "file". Name the file to read.')
}

/** The bytes behind the object ref in input `file`; undefined without that input, or where it is what `path` names. */
export async function readFileInput(
  call: HandlerCall,
  handler: 'read-input' | 'read-table',
  path: string | undefined,
): Promise<Uint8Array | undefined> {
  const { file } = call.inputs
  if (file === undefined || (path !== undefined && reads(path, 'file'))) return undefined
  const bytes = await readObjectRef(call, file)
  if (bytes !== undefined) return bytes
  const what =
    'input "file" is no object ref (objstore://tenant/sha256). Wire it from an output of type file or artifact; a file of the inputs folder is named by config "path", as in path: "{{inputs.file_name}}".'
  throw handlerFault(call, handler, 'input_source', what)
}

/** Whether a template names this input. */
export function reads(template: string, input: string): boolean {
  return templateReferences(template).some((reference) => reference.kind === 'input' && reference.path[0] === input)
}

/**
 * The file of the inputs folder that a path names once its inputs are put in: it is judged as it is then, by the port.
 * Faults as the port's, and InvalidInput input_path: an input has no value, or the path is longer than 1,000 characters.
 */
export async function readPath(
  call: HandlerCall,
  handler: 'read-input' | 'read-table',
  template: string,
): Promise<Uint8Array> {
  const rendered = renderTemplate(template, call.values)
  if (!rendered.ok) {
    const what = `its path is ${JSON.stringify(template)}, but ${rendered.missing.join(', ')} has no value. Give it as a run input, a default, or wire it with "from".`
    throw handlerFault(call, handler, 'input_path', what)
  }
  if (rendered.text.length > MOST_OF_PATH) {
    const what = `its path has ${rendered.text.length} characters with its inputs in place; ${MOST_OF_PATH} are allowed. Name a file.`
    throw handlerFault(call, handler, 'input_path', what)
  }
  try {
    return await call.world.inputs.read(call.run.tenant, rendered.text)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const message = `Cannot run block "${call.block_id}" (${handler}): ${error.message}`
    throw new Fault(error.name, error.code, message, { facts: error.facts, status: error.status, cause: error })
  }
}

const MOST_OF_PATH = 1_000

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
