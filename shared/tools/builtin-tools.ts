import type { OutputPort, ToolUse } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'

/** A tool of ours: what a model is told of it. */
export interface BuiltinTool {
  readonly description: string
  /** A JSON Schema of an object. */
  readonly input_schema: Json
  readonly effect: ToolUse['effect']
  /** What it gives was written by others. */
  readonly untrusted: boolean
  readonly outputs: Readonly<Record<string, OutputPort>>
}

const TEXT: BuiltinTool['outputs'] = { text: { type: 'string', required: true } }

export const BUILTIN_TOOLS: Readonly<Record<string, BuiltinTool>> = {
  'artifact.write': {
    description: 'Writes a text as a file of this run, for people and for later blocks. A file of the same name is replaced.',
    input_schema: {
      type: 'object',
      properties: { name: { type: 'string' }, text: { type: 'string' } },
      required: ['name', 'text'],
      additionalProperties: false,
    },
    effect: 'read',
    untrusted: false,
    outputs: TEXT,
  },
  ask_person: {
    description: 'Asks a person a question and waits for the answer, which may take days. Ask only what you cannot find out.',
    input_schema: {
      type: 'object',
      properties: {
        question: { type: 'string' },
        fields: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, type: { enum: ['string', 'number', 'boolean'] }, label: { type: 'string' } },
            required: ['name', 'type'],
            additionalProperties: false,
          },
        },
      },
      required: ['question'],
      additionalProperties: false,
    },
    effect: 'read',
    untrusted: false,
    outputs: { answer: { type: 'json', required: true } },
  },
}

export function isBuiltinTool(use: string): boolean {
  return Object.hasOwn(BUILTIN_TOOLS, use)
}
