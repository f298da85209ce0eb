import type { Json } from '../../../shared/canonical.ts'
import { renderTemplate } from '../../../shared/dag/template.ts'
import type { Draft, Tool } from './tool.ts'

/**
 * Model `template`: renders params.template over the inputs (`{{inputs.x.y}}`, values only). With several string ports
 * params.template may be a mapping port -> template. As a value: the rendered text when it is JSON, else {text}.
 */
export const template: Tool = ({ params, inputs }, port) => {
  const source = sourceOf(params.template, port)
  if (source === undefined) {
    return {
      problem: `it needs model_params.template, a text${port === undefined ? '' : ` for port "${port}"`} with {{inputs.name}} in it.`,
    }
  }
  const rendered = renderTemplate(source, inputs)
  if (rendered.ok) return draftOf(rendered.text)
  const missing = rendered.missing.map((path) => `inputs.${path}`).join(', ')
  return {
    problem: `its template reads ${missing}, which has no value; inputs are ${Object.keys(inputs).join(', ') || 'none'}.`,
  }
}

function sourceOf(template: Json | undefined, port: string | undefined): string | undefined {
  if (typeof template === 'string') return template
  if (typeof template !== 'object' || template === null || Array.isArray(template)) return undefined
  const texts = template as Readonly<Record<string, Json>>
  const text = port !== undefined && Object.hasOwn(texts, port) ? texts[port] : Object.values(texts)[0]
  return typeof text === 'string' ? text : undefined
}

function draftOf(text: string): Draft {
  return { text, value: parsed(text) ?? { text }, bullet: '', reserve: [] }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
