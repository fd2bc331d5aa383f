// Ant Design: a form that holds its own values, with a virtual select, a date picker, an input of numbers and a tree of parts.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Button, Checkbox, DatePicker, Form, Input, InputNumber, Radio, Select, Slider, Switch } from 'antd';

const lands = Array.from({ length: 200 }, (_, at) => ({ value: at, label: `Land ${at}` }));

function Page() {
  const [form] = Form.useForm();
  const [sent, setSent] = useState(null);
  const [errors, setErrors] = useState(0);
  useEffect(() => {
    Object.defineProperty(window, 'state', { configurable: true, get: () => ({ ...form.getFieldsValue(true), day: form.getFieldValue('day')?.format('YYYY-MM-DD'), sent, errors }) });
  });
  return (
    <Form form={form} layout="vertical" initialValues={{ dark: false, level: 30 }} onFinish={() => setSent(form.getFieldValue('name'))} onFinishFailed={() => setErrors(errors + 1)}>
      <Form.Item name="name" label="Name" rules={[{ required: true }]}><Input /></Form.Item>
      <Form.Item name="password" label="Password"><Input.Password /></Form.Item>
      <Form.Item name="notes" label="Notes"><Input.TextArea autoSize /></Form.Item>
      <Form.Item name="count" label="Count"><InputNumber /></Form.Item>
      <Form.Item name="land" label="Land"><Select options={lands} /></Form.Item>
      <Form.Item name="city" label="City"><Select showSearch options={[{ value: 'b', label: 'Berlin' }, { value: 'o', label: 'Oslo' }]} optionFilterProp="label" /></Form.Item>
      <Form.Item name="day" label="Day"><DatePicker /></Form.Item>
      <Form.Item name="terms" valuePropName="checked"><Checkbox>I accept</Checkbox></Form.Item>
      <Form.Item name="dark" label="Dark" valuePropName="checked"><Switch /></Form.Item>
      <Form.Item name="plan" label="Plan"><Radio.Group options={[{ value: 'a', label: 'Plan A' }, { value: 'b', label: 'Plan B' }]} optionType="button" /></Form.Item>
      <Form.Item name="level" label="Level"><Slider ariaLabelForHandle="Level" /></Form.Item>
      <Button htmlType="submit">Send</Button>
    </Form>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
