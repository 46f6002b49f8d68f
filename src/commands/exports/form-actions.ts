import * as forms from '../../views/exports/form.ts';
import type { Action } from '../define.ts';
import { addRow, needsRedraw, removeRow, withDefaultOps } from './filter-rows.ts';
import { createFormFor } from './form.ts';
import { clampWindow, correctWindow, readWindow } from './window.ts';

/** A window that is one press away. */
const chooseWindow: Action = {
  id: 'event-logs:window',
  needs: 'export',
  async redraw(value, context) {
    const form = createFormFor(context.modal);
    const drawn = form.drawn + 1;
    if (value === forms.correctWindow.value)
      return forms.renderExportForm({ ...form, ...correctWindow(form.from, form.to, context.now()), drawn });
    const label = Object.hasOwn(forms.windowChoices, value) ? value : '24h';
    const window = readWindow(`last ${label}`, context.now(), 'UTC');
    return forms.renderExportForm({ ...form, ...(clampWindow(window, context.now()) ?? window), drawn });
  },
};

const addFilter: Action = {
  id: 'event-logs:filter',
  needs: 'export',
  async redraw(_, context) {
    const form = createFormFor(context.modal);
    return forms.renderExportForm({ ...form, ...addRow(form) });
  },
};

const removeFilter: Action = {
  id: 'event-logs:filter-remove',
  needs: 'export',
  async redraw(value, context) {
    const form = createFormFor(context.modal);
    return forms.renderExportForm({ ...form, ...removeRow(form, Number(value)) });
  },
};

const chooseField: Action = {
  id: 'event-logs:filter-field',
  needs: 'export',
  async redraw(_, context) {
    const form = createFormFor(context.modal);
    return needsRedraw(form.filters, context.modal?.fields ?? {})
      ? forms.renderExportForm({ ...form, ...withDefaultOps(form) })
      : undefined;
  },
};

const chooseOp: Action = {
  id: 'event-logs:filter-op',
  needs: 'export',
  redraw: async (_, context) => forms.renderExportForm(createFormFor(context.modal)),
};

/** The buttons and menus of the form that change it while it is open. */
export const formActions: readonly Action[] = [chooseWindow, addFilter, removeFilter, chooseField, chooseOp];
