import { digestOf } from '../lib/crypto.ts'

/** The names of functions that every vendor takes. */
export const EVERYWHERE = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/
const LONGEST = 64
const DIGITS = 8

/** A name for a function that every vendor takes: the same, or one made of it. Different names stay different. */
export function functionName(name: string): string {
  return EVERYWHERE.test(name) ? name : madeName(name)
}

/** A name that every vendor takes, made of one that some vendor does not. */
export function madeName(name: string): string {
  const kept = name.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?![a-zA-Z])/, 'f_')
  return `${kept.slice(0, LONGEST - DIGITS - 1)}_${digestOf(name).slice(0, DIGITS)}`
}
