import { parentPort } from 'node:worker_threads'
import { extractText, getDocumentProxy, getMeta } from 'unpdf'
import type { PdfReply } from './read-pdf.ts'

parentPort?.on('message', (bytes: Uint8Array) => void answer(bytes).then((reply) => parentPort?.postMessage(reply)))

async function answer(bytes: Uint8Array): Promise<PdfReply> {
  try {
    return await read(bytes)
  } catch (cause) {
    if (!(cause instanceof Error)) return { refused: String(cause) }
    return {
      refused: cause.name === 'PasswordException' ? 'it is encrypted, save it without a password' : cause.message,
    }
  }
}

async function read(bytes: Uint8Array): Promise<PdfReply> {
  const pdf = await getDocumentProxy(bytes, { verbosity: 0 })
  try {
    const { text } = await extractText(pdf)
    const { info } = await getMeta(pdf)
    const title: unknown = info.Title
    return { text: text.join('\n\n').trim(), ...(typeof title === 'string' && { title }) }
  } finally {
    await pdf.loadingTask.destroy()
  }
}
